"""How tests read pages: with the packaged selectors, on one fixed day."""

from datetime import UTC, datetime

import httpx

from search.engine import Answer, Engine, Hit
from search.engines import engines
from search.selectors import SelectorFile

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ENGINES: dict[str, Engine] = {engine.name: engine for engine in engines(now=lambda: NOW)}
_SELECTORS = SelectorFile()


def read(engine: str, page: str | bytes, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    """What the engine makes of a page."""
    content = page.encode() if isinstance(page, str) else page
    response = httpx.Response(status, content=content, headers={"Content-Type": "text/html"} | (headers or {}))
    return ENGINES[engine].parse(response, _SELECTORS.current()[engine])


def only_hit(engine: str, page: str) -> Hit:
    """The one result of a page."""
    answer = read(engine, page)
    assert answer.state == "ok", answer
    assert len(answer.hits) == 1, answer
    return answer.hits[0]
