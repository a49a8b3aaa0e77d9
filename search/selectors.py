"""What the scraping engines look for in their pages: CSS selectors, kept as data in a TOML file.

Engines change their pages more often than this service is deployed, so the file is read again when it has changed.
"""

import logging
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Final

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

_log = logging.getLogger(__name__)

PACKAGED: Final = Path(__file__).with_name("selectors.toml")

_Tables = dict[str, dict[str, tuple[str, ...]]]
_Stamp = tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Selectors:
    """Where things are on one engine's page; each a list, best first.

    `cards`: the results, of which the first selector that leads to any counts. In a card: `title`, the link with the
    title; `snippet`; `date`; `noise`, which is taken out before the snippet is read. On the page: `drop`, taken out
    before all else (advertisements); `empty`, what is there when nothing was found; `blocked`, of a captcha;
    `blocked_titles`, titles of such pages. The last three are looked at only when there are no results.
    """

    cards: tuple[str, ...] = ()
    title: tuple[str, ...] = ()
    snippet: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    noise: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    blocked_titles: tuple[str, ...] = ()


_FIELDS = frozenset(field.name for field in fields(Selectors))


class SelectorFile:
    """The selectors of all engines: those of the package, and over them those that the file at `path` names.

    An edit that cannot be used changes nothing; `fault` then says what is wrong, until it is mended.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._paths = (PACKAGED,) if path is None else (PACKAGED, path)
        self._stamps: tuple[_Stamp, ...] = ()
        self._known: Mapping[str, Selectors] = MappingProxyType({})
        self.fault: str | None = None
        self.current()

    def __repr__(self) -> str:
        return f"<SelectorFile {', '.join(self._known) or 'empty'}{' faulty' if self.fault else ''}>"

    def current(self) -> Mapping[str, Selectors]:
        """The selectors by engine, read anew when a file has changed: to be called once for a search."""
        stamps = tuple(_stamp(path) for path in self._paths)
        if stamps != self._stamps:
            self._stamps = stamps
            self._load()
        return self._known

    def _load(self) -> None:
        self.fault = None
        tables: _Tables = {}
        for path in self._paths:
            try:
                for engine, named in _read(path).items():
                    tables[engine] = tables.get(engine, {}) | named
            except (OSError, ValueError, RecursionError) as fault:
                self.fault = f"The selectors in {path} cannot be used: {fault}"
                _log.warning("%s", self.fault)
        if self.fault is None or not self._known:
            self._known = MappingProxyType({engine: Selectors(**named) for engine, named in tables.items()})


def _stamp(path: Path) -> _Stamp:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _read(path: Path) -> _Tables:
    """The tables of one file; raises OSError or ValueError."""
    return {engine: dict(_entries(engine, table)) for engine, table in tomllib.loads(path.read_text("utf-8")).items()}


def _entries(engine: str, table: object) -> Iterator[tuple[str, tuple[str, ...]]]:
    if not isinstance(table, dict):
        raise ValueError(f"{engine} is not a table")  # noqa: TRY004 - one kind of error for a file that is wrong
    for name, given in table.items():
        where = f"{engine}.{name}"
        if name not in _FIELDS:
            raise ValueError(f"{where} is not known; there are {', '.join(sorted(_FIELDS))}")
        if not isinstance(given, list) or not all(isinstance(each, str) and each.strip() for each in given):
            raise ValueError(f"{where} is not a list of selectors")
        for each in given if name != "blocked_titles" else ():
            _try(where, each)
        yield name, tuple(given)


def _try(where: str, selector: str) -> None:
    try:
        LexborHTMLParser("").css(selector)
    except SelectolaxError as fault:
        raise ValueError(f"{where} has {selector!r}, which is no CSS selector") from fault
