"""How probably each block of a page is content: boosted trees over the numbers of `extract_features`.

The trees are symmetric (every split of a level asks the same), as CatBoost grows them (Prokhorenkova et al., 2018),
fitted to pages with known content: article-extraction-benchmark (MIT), a third of the development part of WCXB
(CC-BY-4.0) and CWCED (MIT), by `scripts/fit_extract_model.py`. Fitted to half of the pages and judged on the other, by
turns, they reach F1 .964 on the first (4-word shingles), .867 on the second (words) and .939 on the third (4-character
shingles); trafilatura has .960, .836 and .856.
"""

import json
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from fetch.extract_features import NAMES, Numbers

_ROWS = 2_000  # blocks that are judged at once, which bounds memory
_LEAF = 1_000.0  # leaves are written in thousandths


class Trees:
    """An ensemble of symmetric trees. Asks each distinct question once for all blocks, then looks up the leaves."""

    def __init__(self, written: str) -> None:
        model = json.loads(written)
        if tuple(model["features"]) != NAMES:
            raise ValueError("the model was fitted to other features than these")
        self._columns = np.array([test[0] for test in model["tests"]])
        self._borders = np.array([test[1] for test in model["tests"]], np.float32)
        trees = np.array(model["trees"])
        self._levels = [np.ascontiguousarray(trees[:, level]) for level in range(trees.shape[1])]
        leaves = np.array(model["leaves"], np.float32) / _LEAF
        self._leaves = leaves.ravel()
        self._firsts = (np.arange(len(leaves)) * leaves.shape[1]).astype(np.int32)
        self._bias = float(model["bias"])

    def probabilities(self, rows: Numbers) -> npt.NDArray[np.float64]:
        """For each row, between 0 and 1."""
        parts = [self._score(rows[start : start + _ROWS]) for start in range(0, len(rows), _ROWS)]
        return np.asarray(1 / (1 + np.exp(-np.concatenate(parts).astype(float))))

    def _score(self, rows: Numbers) -> Numbers:
        answers = (rows[:, self._columns] > self._borders).astype(np.int32)
        leaf = np.broadcast_to(self._firsts, (len(rows), len(self._firsts))).copy()
        for level, tests in enumerate(self._levels):
            leaf += answers[:, tests] << level
        return np.asarray(self._leaves[leaf].sum(axis=1) + self._bias, np.float32)


@cache
def trees() -> Trees:
    """The ensemble that comes with the package."""
    return Trees(files("fetch").joinpath("extract_model.json").read_text(encoding="utf-8"))
