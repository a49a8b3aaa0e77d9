"""The output budget."""

import random

import pytest

from fetch.budget import Cut, cut


def pieces(content: str, max_chars: int) -> list[str]:
    """All pieces of a text, as a caller gets them who follows `next_offset`."""
    found = []
    offset: int | None = 0
    while offset is not None:
        piece = cut(content, max_chars=max_chars, offset=offset)
        found.append(piece.content)
        offset = piece.next_offset
    return found


def test_all_of_it() -> None:
    """No limit means the whole text."""
    assert cut("abc", max_chars=0, offset=0) == Cut("abc", 3, truncated=False, next_offset=None)
    assert cut("abc", max_chars=0, offset=1) == Cut("bc", 3, truncated=False, next_offset=None)


def test_a_text_that_fits() -> None:
    """A text as long as the limit is whole."""
    assert cut("abc", max_chars=3, offset=0) == Cut("abc", 3, truncated=False, next_offset=None)


def test_a_part() -> None:
    """A longer one is cut, and says where it goes on."""
    assert cut("abcdef", max_chars=2, offset=2) == Cut("cd", 6, truncated=True, next_offset=4)


@pytest.mark.parametrize("offset", [3, 4, 10**9])
def test_beyond_the_end(offset: int) -> None:
    """There is nothing at and beyond the end, and that is no error."""
    assert cut("abc", max_chars=2, offset=offset) == Cut("", 3, truncated=False, next_offset=None)


FENCE = "```py\na\n\nb\n```\n"
LINK = "[text of it](https://e.test/a_(b))"

ENDS = {
    "after a paragraph rather than a line": ("a" * 80 + "\n\n" + "b" * 10 + "\n" + "c" * 50, 100, 82),
    "after a line rather than a word": ("a" * 80 + "\n" + "b b b b" + "c" * 50, 100, 81),
    "after a word": ("a" * 85 + " " + "b" * 50, 100, 86),
    "after a Chinese sentence": ("天" * 85 + "。" + "晴" * 50, 100, 86),
    "at the limit where no end is near": ("a" * 50 + "\n\n" + "b" * 150, 100, 100),
    "before a fence": ("a" * 40 + "\n\n" + FENCE + "c" * 50, 50, 42),
    "not at the paragraphs in a fence": ("a" * 78 + "\n" + FENCE + "c" * 50, 93, 79),
    "before a fence in a quote": ("a" * 40 + "\n> ```\n> b\n> ```\n" + "c" * 50, 50, 41),
    "after a fence": ("a" * 40 + "\n" + FENCE + "c" * 50, 60, 41 + len(FENCE)),
    "at a line in a fence that no piece can hold": ("```\n" + "abcdefg\n" * 20 + "```", 50, 44),
    "before a link": ("a" * 60 + LINK + "b" * 50, 80, 60),
    "before an image": ("a" * 60 + "!" + LINK + "b" * 50, 80, 60),
    "before an image in a link": ("a" * 60 + "[![i](/i.png)](/very/long/address)" + "b" * 50, 80, 60),
    "not at the spaces of a link": ("a " * 30 + LINK + "b" * 50, 75, 60),
    "in a link that no piece can hold": (LINK, 10, 9),
    "after brackets that are no link": ("a" * 40 + "[b] c" + "d" * 50, 50, 44),
}


@pytest.mark.parametrize(("content", "max_chars", "end"), ENDS.values(), ids=ENDS.keys())
def test_where_a_piece_ends(content: str, max_chars: int, end: int) -> None:
    """A piece ends where a reader would end it, and never inside what only means something whole."""
    assert cut(content, max_chars=max_chars, offset=0).next_offset == end


@pytest.mark.parametrize(
    "cluster",
    [
        "e\u0301\u0302",
        "👩\u200d👩\u200d👧",
        "👍🏽",
        "✌\ufe0f",
        "🇩🇪",
        "\u1112\u1161\u11ab",
        "\r\n",
        "\ud83d\ude00",
        "🏴\U000e0067\U000e007f",
    ],
    ids=ascii,
)
def test_clusters(cluster: str) -> None:
    """What is one character to a reader is not cut apart."""
    for before in range(8, 12):
        assert cluster in pieces("a" * before + cluster + "b" * 20, 12)[before + len(cluster) > 12]


def test_flags_in_a_row() -> None:
    """Flags are cut between pairs of their letters."""
    assert pieces("🇩🇪🇫🇷🇮🇹", 3) == ["🇩🇪", "🇫🇷", "🇮🇹"]


PARTS = [
    *("word ", "。中文", "\n\n", "\n", "\r\n", "x" * 30, "   ", "\\[", "[", "](", "`", "(", ")"),
    *(LINK, "![img [x]](<u v>)", "[![a](b)](c)", FENCE, "~~~\nx\n", "> ```\n> q\n> ```\n"),
    *("e\u0301", "👩\u200d👩\u200d👧", "🇩🇪", "\u1112\u1161\u11ab", "\ud83d\ude00", "\u0301" * 80),
]


@pytest.mark.parametrize("seed", range(40))
def test_pieces_joined_are_the_text(seed: int) -> None:
    """Whatever text and limit are: no piece is empty or too long, and together they are the text."""
    chance = random.Random(seed)
    for _ in range(20):
        content = "".join(chance.choices(PARTS, k=chance.randint(0, 80)))
        max_chars = chance.choice([1, 2, 3, 7, 20, 50, 100, 1000])
        found = pieces(content, max_chars)
        assert "".join(found) == content
        assert all(0 < len(piece) <= max_chars for piece in found if content)


@pytest.mark.parametrize(
    "content",
    ["[" * 1_000_000, "[a](b)" * 200_000, FENCE * 60_000, "```\n" + "x\n" * 500_000, "\u0301" * 1_000_000],
    ids=lambda content: ascii(content[:8]),
)
@pytest.mark.timeout(20)
def test_long_texts(content: str) -> None:
    """A cut of a text of a million characters does not take long, whatever is in it."""
    assert cut(content, max_chars=800_000, offset=0).next_offset is not None
