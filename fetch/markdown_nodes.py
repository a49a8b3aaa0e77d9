"""The nodes of the tree that the Markdown converter walks: Beautiful Soup's, with only what the converter asks for.

Making them as Beautiful Soup does, for any parser and for searches in every direction, takes a third of a conversion.
"""

from typing import Self

from bs4.element import NavigableString, PageElement, Tag


class Text(NavigableString):
    """Folded text; `starts` where it begins a line, so that its first characters could be taken for a block's mark."""

    starts = False
    parent: "Element | None" = None
    next_sibling: PageElement | None = None
    previous_sibling: PageElement | None = None

    def __new__(cls, text: str) -> Self:
        return str.__new__(cls, text)


class Element(Tag):
    """A tag without Beautiful Soup's document order: name, attributes, children, parent and siblings are all it has."""

    parent: "Element | None" = None
    next_sibling: PageElement | None = None
    previous_sibling: PageElement | None = None

    def __init__(self, name: str, attrs: dict[str, str] | None = None) -> None:
        self.name = name
        self.attrs = {} if attrs is None else attrs  # type: ignore[assignment]
        self.contents: list[Element | Text] = []  # type: ignore[assignment]


def append(parent: Element, node: Element | Text) -> None:
    """What Tag.append does for children and siblings, without the document order that it keeps too."""
    if parent.contents:
        last = parent.contents[-1]
        last.next_sibling = node
        node.previous_sibling = last
    node.parent = parent
    parent.contents.append(node)
