"""Tables: which are data and which only place things, and data tables in GitHub's notation."""

import re

from selectolax.lexbor import LexborNode

from fetch.markdown_code import is_gutter
from fetch.markdown_nodes import Element

CELLS = frozenset({"td", "th"})
MAX_SPAN = 100
"""Columns or rows that one cell is believed to cover."""

_LAYOUT_CELL = 400  # characters in a cell, from which a table without headings is taken for layout


def is_layout(table: LexborNode) -> bool:
    """Whether a table only places things on the page, so that its cells are blocks and no cells."""
    if table.attributes.get("role") in {"presentation", "none"}:
        return True
    if any(part.css_first("table") is not None for part in table.iter()):
        return True
    if table.css_first("th, thead, caption") is not None:
        return False
    rows = table.css("tr")[:20]
    cells = [[cell for cell in row.iter() if not is_gutter(cell.attributes)] for row in rows]
    if all(len(row) < 2 for row in cells) or table.css_first("h1, h2, h3, h4, form, pre") is not None:
        return True
    return any(len(cell.text()) > _LAYOUT_CELL for row in cells for cell in row)


def table(el: Element) -> str:
    """The rows of a table whose cells have been converted (see `cell_text`); empty when nothing is in them."""
    rows, has_head = _rows(el)
    grid = _grid(rows)
    if not any(any(row) for row in grid):
        return ""
    if not has_head:
        grid.insert(0, [])
    width = max(len(row) for row in grid)
    lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in grid]
    lines.insert(1, "| " + " | ".join(["---"] * width) + " |")
    return "\n".join(lines)


def cell_text(text: str) -> str:
    """The Markdown of a cell's content on one line: blocks are parted by `<br>`, headings are bold, pipes escaped."""
    core = re.sub(r"(?m)^#{1,6} (.*)$", r"**\1**", text.strip())
    core = "<br>".join(filter(None, (line.strip() for line in core.split("\n"))))
    return re.sub(r"(?<!\\)\|", r"\\|", core)


def _rows(table: Element) -> tuple[list[list[Element]], bool]:
    """The rows in the order they are shown, and whether the first of them is a heading."""
    parts: dict[str, list[list[Element]]] = {"thead": [], "tbody": [], "tfoot": []}
    for child in table.contents:
        if isinstance(child, Element) and child.name == "tr":
            parts["tbody"].append(_cells(child))
        elif isinstance(child, Element) and child.name in parts:
            parts[child.name] += [
                _cells(row) for row in child.contents if isinstance(row, Element) and row.name == "tr"
            ]
    rows = [*parts["thead"], *parts["tbody"], *parts["tfoot"]]
    return rows, bool(parts["thead"]) or (bool(rows) and all(cell.name == "th" for cell in rows[0]))


def _cells(row: Element) -> list[Element]:
    return [cell for cell in row.contents if isinstance(cell, Element) and cell.name in CELLS]


def _grid(rows: list[list[Element]]) -> list[list[str]]:
    """Cells in their columns; the further places that a cell spans are empty."""
    grid: list[list[str]] = []
    below: dict[int, int] = {}  # column -> rows that a cell from above still reaches down
    for cells in rows:
        line: list[str] = []
        for cell in cells:
            while below.get(len(line), 0) > 0:
                below[len(line)] -= 1
                line.append("")
            down = _span(cell, "rowspan") - 1
            for step in range(_span(cell, "colspan")):
                below[len(line)] = down
                line.append("" if step else str(cell.attrs["markdown"]))
        for column in [each for each, left in below.items() if each >= len(line) and left > 0]:
            below[column] -= 1
        grid.append(line)
    return grid


def _span(cell: Element, name: str) -> int:
    value = str(cell.attrs.get(name, "1"))
    return max(1, min(int(value), MAX_SPAN)) if re.fullmatch(r"\d{1,5}", value) else 1
