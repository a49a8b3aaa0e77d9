"""What changed between two snapshots, in few lines: removed and added ones, each below the line that it belongs to."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

MOST_COMPARED = 1_000_000  # pairs of lines; beyond, lines are compared without their order
CONTEXT = 60  # characters of a line that only says where something is


@dataclass(frozen=True)
class Line:
    """One line: how deep it lies, what it says, and the ref of its element."""

    depth: int
    head: str
    ref: str
    tail: str

    def __str__(self) -> str:
        return f"{'  ' * self.depth}- {self.said}"

    @property
    def said(self) -> str:
        """The line without its indentation."""
        return f"{self.head} [ref={self.ref}]{self.tail}" if self.ref else self.head + self.tail


@dataclass(frozen=True)
class Baseline:
    """The last snapshot of a tab, to compare the next with: what was asked, of which document, and its lines."""

    asked: tuple[object, ...]
    document: float
    lines: Sequence[Line]


def difference(before: Sequence[Line], after: Sequence[Line]) -> list[str]:
    """Lines with `- ` (gone) and `+ ` (new) before them; `  ` marks the parent of what follows."""
    old, new = [str(each) for each in before], [str(each) for each in after]
    told: list[str] = []
    here: str | None = None  # the line that was named last, or that was told and has others below it
    for sign, line, at in _changes(old, new):
        above = _parent(before if sign == "-" else after, at)
        if above is not None and str(above) != here and not (told and told[-1][2:] == str(above)):
            told.append("  " + _short(str(above)))
        here = None if above is None else str(above)
        told.append(f"{sign} {line}")
    return told


def _short(line: str) -> str:
    return line if len(line) <= CONTEXT else line[: CONTEXT - 1] + "…"


def _changes(old: list[str], new: list[str]) -> Iterator[tuple[str, str, int]]:
    """Sign, line, and where it stands."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    left, right = old[start : len(old) - end], new[start : len(new) - end]
    if len(left) * len(right) > MOST_COMPARED:
        yield from _unordered("-", left, Counter(right), start)
        yield from _unordered("+", right, Counter(left), start)
        return
    for kind, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind != "equal":
            yield from (("-", left[i], start + i) for i in range(a, b))
            yield from (("+", right[i], start + i) for i in range(c, d))


def _unordered(sign: str, lines: list[str], others: Counter[str], start: int) -> Iterator[tuple[str, str, int]]:
    for i, line in enumerate(lines):
        if others[line]:
            others[line] -= 1
        else:
            yield sign, line, start + i


def _parent(lines: Sequence[Line], at: int) -> Line | None:
    """The line that this one lies below."""
    depth = lines[at].depth
    return next((lines[i] for i in range(at - 1, -1, -1) if lines[i].depth < depth), None)
