"""Fit the model that tells a page's main content (`fetch/extract_model.json`) to pages whose content is known.

    python scripts/fit_extract_model.py DIR... [--folds 5] [--seed 0] [--out fetch/extract_model.json]

A DIR holds `gold.json` ({name: {"text": …}}) and `html/NAME.html.gz`. First it judges by cross-validation, by pages:
the word F1 of those that a model has not seen, for each DIR. Then, with --out, it fits to all of them. Needs CatBoost
(`pip install catboost`), which is no dependency of Tabwright: the fitted trees are read with NumPy alone.
"""

import argparse
import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from catboost import CatBoostClassifier, Pool

from fetch.charset import decode
from fetch.extract_blocks import blocks_of
from fetch.extract_features import NAMES, features
from fetch.extract_main import choose
from fetch.extract_signs import signs_of
from fetch.prepare import prepare
from fetch.tame import tame

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_MOST = 60_000  # words of a page that are aligned with its content
_LEAST = 30  # words of content of the pages that count most: shorter ones are no more certain
_SETTINGS = {
    "iterations": 400,
    "depth": 5,
    "learning_rate": 0.08,
    "l2_leaf_reg": 5,
    "rsm": 0.4,
    "border_count": 64,
    "subsample": 0.7,
    "bootstrap_type": "Bernoulli",
    "thread_count": 2,
    "verbose": 0,
    "allow_writing_files": False,
}


@dataclass(frozen=True)
class Page:
    """A page's blocks as numbers; of each block the words, and how much of it (0 to 1) is content."""

    kind: str
    gold: Counter[str]
    words: list[list[str]]
    rows: Any
    sizes: Any
    share: list[float]


def words(text: str) -> list[str]:
    """Words, and single signs of languages that have no spaces."""
    return _WORD.findall(text.lower())


def read(task: tuple[str, str, bytes, str]) -> Page:
    """Make numbers of a page as Tabwright does, and align its blocks with its known content."""
    kind, name, body, gold = task
    html = tame(decode(body, None)[0])
    url = f"http://pages.example/{name}.html"
    page = prepare(html, url)
    found = blocks_of(page.root)
    texts = [words(block.text) for block in found.blocks]
    rows, sizes = features(found, signs_of(page.tree, html, url)) if texts else ([], [])
    known = words(gold)
    return Page(kind, Counter(known), texts, rows, sizes, list(_shares(texts, known)))


def _shares(texts: Sequence[list[str]], known: list[str]) -> Iterator[float]:
    """Of each block the share that is in the content: in the order of the page, or as runs of three words."""
    flat = [word for text in texts for word in text][:_MOST]
    run = np.zeros(sum(map(len, texts)) + 1, int)
    for start, _, length in SequenceMatcher(None, flat, known, autojunk=False).get_matching_blocks():
        run[start : start + length] = min(length, 2)
    threes = set(zip(known, known[1:], known[2:], strict=False))
    at = 0
    for text in texts:
        here = run[at : at + len(text)]
        at += len(text)
        share = float((here >= min(2, len(text))).mean()) if text else 0.0
        if len(text) >= 6:
            runs = list(zip(text, text[1:], text[2:], strict=False))
            share = max(share, mean(each in threes for each in runs))
        yield share


def load(folders: Sequence[Path]) -> list[Page]:
    """All pages of all folders."""
    tasks = [
        (folder.name, name, gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes()), gold["text"])
        for folder in folders
        for name, gold in json.loads((folder / "gold.json").read_text()).items()
    ]
    with ProcessPoolExecutor() as processes:
        return list(processes.map(read, tasks, chunksize=4))


def fit(pages: Sequence[Page], seed: int) -> Any:
    """A model of some pages. A page counts as one, whatever its length; within it, a block as its words."""
    rows, labels, weights = [], [], []
    for page in pages:
        if page.words:
            content = max(_LEAST, sum(share * len(text) for share, text in zip(page.share, page.words, strict=True)))
            rows.append(page.rows)
            labels += [share > 0.5 for share in page.share]
            weights += [max(len(text), 1) / content for text in page.words]
    model = CatBoostClassifier(random_seed=seed, **_SETTINGS)
    return model.fit(Pool(np.vstack(rows), np.array(labels, int), weight=np.array(weights) / mean(weights)))


def likeness(page: Page, model: Any) -> float:
    """Word F1 of what a model takes of a page."""
    if not page.words:
        return float(not page.gold)
    kept, _ = choose(model.predict_proba(page.rows)[:, 1], page.sizes)
    got = Counter(word for text, keep in zip(page.words, kept, strict=True) if keep for word in text)
    return 2 * (got & page.gold).total() / max(1, got.total() + page.gold.total())


def validate(pages: Sequence[Page], folds: int, seed: int) -> dict[str, float]:
    """The mean F1 of each kind of pages, each judged by a model that has not seen it."""
    fold = np.random.default_rng(seed).integers(0, folds, len(pages))
    scores: dict[str, list[float]] = {}
    for number in range(folds):
        model = fit([page for page, other in zip(pages, fold, strict=True) if other != number], seed)
        for page in (page for page, other in zip(pages, fold, strict=True) if other == number):
            scores.setdefault(page.kind, []).append(likeness(page, model))
    return {kind: mean(each) for kind, each in scores.items()}


def write(model: Any, path: Path) -> None:
    """Write the trees as `fetch.extract_model` reads them: each question once, leaves in thousandths."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "model.json")
        model.save_model(str(file), format="json")
        made = json.loads(file.read_text())
    scale, (bias,) = made["scale_and_bias"]
    splits = [
        [(split["float_feature_index"], float(f"{split['border']:.6g}")) for split in tree["splits"]]
        for tree in made["oblivious_trees"]
    ]
    tests = sorted({test for tree in splits for test in tree})
    at = {test: index for index, test in enumerate(tests)}
    written = {
        "features": list(NAMES),
        "bias": round(bias * scale, 5),
        "tests": [list(test) for test in tests],
        "trees": [[at[test] for test in tree] for tree in splits],
        "leaves": [[round(value * scale * 1000) for value in tree["leaf_values"]] for tree in made["oblivious_trees"]],
    }
    lines = [f'"{name}":{_rows(value)}' for name, value in written.items()]
    path.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")


def _rows(value: Any) -> str:
    """JSON, the rows of a table on lines of their own."""
    if not isinstance(value, list) or not isinstance(value[0], list):
        return json.dumps(value)
    return "[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in value) + "\n]"


def main() -> None:
    """Judge, then fit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR")
    parser.add_argument("--folds", type=int, default=5, help="0: fit only")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", help="fit to the pages K of every N alone, K/N, to judge on the others")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    pages = load(options.folders)
    if options.folds:
        for kind, score in validate(pages, options.folds, options.seed).items():
            sys.stdout.write(f"{kind}: word F1 {score:.4f}\n")
    if options.part:
        part, parts = map(int, options.part.split("/"))
        kinds: dict[str, list[Page]] = {}
        for page in pages:
            kinds.setdefault(page.kind, []).append(page)
        pages = [page for each in kinds.values() for page in each[part::parts]]
    if options.out:
        write(fit(pages, options.seed), options.out)


if __name__ == "__main__":
    main()
