"""What a search tells while it runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

EventName = Literal["query_update", "engine_done", "search_results_received", "page_fetched"]


@dataclass(frozen=True, slots=True)
class Event:
    """One step. `data` can be written as JSON."""

    name: EventName
    data: Mapping[str, Any] = field(default_factory=dict)


Tell = Callable[[Event], None]
"""Takes an event at once; it must not raise."""


def tell_nobody(_: Event) -> None:
    """For when nobody asks."""
