"""The nodes of the tree that the Markdown converter walks: Beautiful Soup's, with only what the converter asks for."""

from typing import Any

from bs4.element import NavigableString, Tag


class Text(NavigableString):
    """Folded text; `starts` where it begins a line, so that its first characters could be taken for a block's mark."""

    starts = False


class Element(Tag):
    """A tag without Beautiful Soup's document order; the converter asks for parents and siblings alone."""

    def find_parent(self, *_: Any, **__: Any) -> None:
        """None: the converter asks for `pre` only, which never holds elements here; looking is a third of its time."""


def append(parent: Element, node: Element | Text) -> None:
    """What Tag.append does for children and siblings, without the document order that it keeps too."""
    if parent.contents:
        last = parent.contents[-1]
        last.next_sibling = node
        node.previous_sibling = last
    node.parent = parent
    parent.contents.append(node)
