"""The main content of a page: its blocks are judged one by one, and what is not content is taken out of the tree."""

import numpy as np
import numpy.typing as npt
from selectolax.lexbor import LexborNode

from fetch.extract_blocks import Blocks, Picture, blocks_of
from fetch.extract_features import features
from fetch.extract_model import trees
from fetch.extract_signs import signs_of
from fetch.prepare import Prepared

_ALWAYS = frozenset({"br", "hr", "wbr"})


class Main:
    """The main content of a page, found but not yet taken.

    `likeness` is the F1 that is to be expected of it, `share` the part of the page's words that is in it; `characters`
    counts the text of the whole page. Finding it takes about 4 ms for a page of 250 blocks, and time in proportion.
    """

    def __init__(self, page: Prepared, html: str, url: str) -> None:
        """`html` is the page's source, for what it says of itself there."""
        self._root = page.root
        self._found = found = blocks_of(page.root)
        self.likeness = self.share = 0.0
        self.characters = sum(len(block.text) + 1 for block in found.blocks)
        if found.blocks:
            rows, sizes = features(found, signs_of(page.tree, html, url))
            self._kept, self.likeness = choose(trees().probabilities(rows), sizes)
            self.share = float(sizes[self._kept].sum() / sizes.sum())

    def take(self) -> None:
        """Take out of the page's tree all but the main content; of a page without text, nothing."""
        if self._found.blocks:
            _prune(self._root, self._found, self._kept)


def choose(
    probabilities: npt.NDArray[np.float64], sizes: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.bool_], float]:
    """The blocks with which the expected F1 is greatest, and that F1.

    No fixed threshold does: on a page of which all is doubtful, a listing, half of it is still the better guess (Ye et
    al., Optimizing F-measures, 2012: the best set holds the most probable ones).
    """
    order = np.argsort(-probabilities, kind="stable")
    hits = np.cumsum((probabilities * sizes)[order])
    likeness = 2 * hits / (np.cumsum(sizes[order]) + hits[-1] + 1e-9)
    last = int(likeness.argmax())
    kept = np.zeros(len(order), np.bool_)
    kept[order[: last + 1]] = True
    return kept, float(likeness[last])


def _prune(root: LexborNode, page: Blocks, kept: npt.NDArray[np.bool_]) -> None:
    whole = {node.mem_id for block, keep in zip(page.blocks, kept, strict=True) if keep for node in block.nodes}
    whole.update(picture.node.mem_id for picture in page.pictures if _is_shown(picture, page, kept))
    around = _around(root, page, whole)
    dropped: list[LexborNode] = []
    stack: list[LexborNode | None] = [root.first_child]
    while stack:
        node = stack.pop()
        while node is not None:
            if node.is_text_node:
                if node.mem_id not in whole and (node.text_content or "").strip():
                    dropped.append(node)
            elif node.is_element_node and node.mem_id not in whole and node.tag not in _ALWAYS:
                if node.mem_id in around:
                    stack.append(node.next)
                    node = node.first_child
                    continue
                dropped.append(node)
            node = node.next
    for node in dropped:
        node.decompose()


def _around(root: LexborNode, page: Blocks, whole: set[int]) -> set[int]:
    """All that is around what is kept."""
    around = {root.mem_id}
    nodes = [node for block in page.blocks for node in block.nodes]
    nodes += [picture.node for picture in page.pictures]
    for node in nodes:
        above = node.parent if node.mem_id in whole else None
        while above is not None and above.mem_id not in around:
            around.add(above.mem_id)
            above = above.parent
    return around


def _is_shown(picture: Picture, page: Blocks, kept: npt.NDArray[np.bool_]) -> bool:
    """Whether a picture belongs to what is kept: it stands between two such blocks, or in one place with one."""
    beside = [index for index in (picture.before - 1, picture.before) if 0 <= index < len(kept) and kept[index]]
    if len(beside) == 2:
        return True
    here = {picture.place, page.places[picture.place].parent} - {0}
    return any(
        not here.isdisjoint((page.blocks[index].place, page.places[page.blocks[index].place].parent))
        for index in beside
    )
