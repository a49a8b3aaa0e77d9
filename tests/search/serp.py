"""What the tests of ranking share: hits and answers written short, and the lists of results beside this file."""

import json
from pathlib import Path

from search.engine import Answer, Hit


def hit(url: str, title: str = "A title", snippet: str = "", *, opaque: bool = False) -> Hit:
    """One hit."""
    return Hit(title, url, snippet, opaque=opaque)


def answer(engine: str, *hits: Hit | str) -> Answer:
    """An answer of state `ok`; addresses alone will do."""
    return Answer(engine, "ok", tuple(hit(one) if isinstance(one, str) else one for one in hits))


def lists(name: str) -> list[tuple[str, tuple[Hit, ...]]]:
    """The queries of a file beside this one, each with its results: title, address, snippet.

    `honest`: as engines answer; `decoy`: as they answer those whom they take for robots, after reports of real ones.
    """
    queries = json.loads(Path(__file__).with_name(f"{name}_lists.json").read_text("utf-8"))
    return [(query, tuple(Hit(*row) for row in rows)) for query, rows in queries.items()]
