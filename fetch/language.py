"""The language of a text: what the page says where the writing agrees, else what the writing says.

Scripts decide where a script has few languages (the ranges of Unicode's blocks); for the Latin, Cyrillic and Arabic
ones common words decide, and where they are few Resiliparse compares letter statistics.
"""

import re
from collections import Counter

from resiliparse.parse.lang import detect_fast

_SAMPLE = 6_000  # characters
_ENOUGH = 60  # letters under which statistics say nothing
_FAR = 1000  # distance over which Resiliparse's answers are mostly wrong (it says 1200; shorter texts need less)
_TAG = re.compile(r"\s*([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}))?(?![A-Za-z])")

_SCRIPTS = (
    ("kana", "\u3041-\u30ff\uff66-\uff9d"),
    ("hangul", "\u1100-\u11ff\uac00-\ud7a3"),
    ("han", "\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"),
    ("cyrillic", "\u0400-\u052f"),
    ("arabic", "\u0600-\u06ff\u0750-\u077f"),
    ("hebrew", "\u0590-\u05ff"),
    ("greek", "\u0370-\u03ff"),
    ("thai", "\u0e00-\u0e7f"),
    ("devanagari", "\u0900-\u097f"),
    ("bengali", "\u0980-\u09ff"),
    ("gurmukhi", "\u0a00-\u0a7f"),
    ("gujarati", "\u0a80-\u0aff"),
    ("tamil", "\u0b80-\u0bff"),
    ("telugu", "\u0c00-\u0c7f"),
    ("kannada", "\u0c80-\u0cff"),
    ("malayalam", "\u0d00-\u0d7f"),
    ("sinhala", "\u0d80-\u0dff"),
    ("lao", "\u0e80-\u0eff"),
    ("myanmar", "\u1000-\u109f"),
    ("georgian", "\u10a0-\u10ff"),
    ("ethiopic", "\u1200-\u137f"),
    ("khmer", "\u1780-\u17ff"),
    ("armenian", "\u0530-\u058f"),
    ("latin", "A-Za-z\u00c0-\u024f\u1e00-\u1eff"),
)
_LETTER = re.compile("|".join(f"(?P<{name}>[{letters}])" for name, letters in _SCRIPTS))

# Languages written in each script, the first is the one to assume where there is no better knowledge.
_WRITTEN = {
    "hangul": ("ko",),
    "hebrew": ("he", "yi"),
    "greek": ("el",),
    "thai": ("th",),
    "devanagari": ("hi", "mr", "ne", "sa"),
    "bengali": ("bn", "as"),
    "gurmukhi": ("pa",),
    "gujarati": ("gu",),
    "tamil": ("ta",),
    "telugu": ("te",),
    "kannada": ("kn",),
    "malayalam": ("ml",),
    "sinhala": ("si",),
    "lao": ("lo",),
    "myanmar": ("my",),
    "georgian": ("ka",),
    "ethiopic": ("am", "ti"),
    "khmer": ("km",),
    "armenian": ("hy",),
    "cyrillic": ("ru", "uk", "be", "bg", "sr", "mk", "kk", "ky", "mn", "tg", "tt", "ba", "cv", "ce", "os", "uz", "bs"),
    "arabic": ("ar", "fa", "ur", "ps", "sd", "ug", "ku", "ckb", "arz", "az"),
}
_OTHERS = {"zh", "yue", "ja", *(language for written in _WRITTEN.values() for language in written)} - {"sr", "bs"}
_OTHERS -= {"uz", "az", "ku", "kk", "tg", "mn", "tt"}  # these are written in Latin letters too
_RENAMED = {"iw": "he", "in": "id", "ji": "yi", "no": "no", "nb": "nb", "cmn": "zh", "jp": "ja", "cn": "zh", "kr": "ko"}

# Words that make up a tenth or more of any text in the language and that its neighbours have not, or seldom.
_COMMON = {
    "en": "the and of to is that with for was are this by from you have not it",
    "de": "der die das und ist nicht mit den dem ein eine auf von zu für auch sich",  # codespell:ignore ist
    "fr": "le les des et est une dans pour que qui sur pas au du avec il elle ce",
    "es": "el los las y es una por con para que se del su como más está lo",
    "it": "il gli di che è una per con non sono della nel più anche del dei le",
    "pt": "os as uma não com para que do da em é mais dos ao pelo seu são",
    "nl": "het een van en is dat niet met voor zijn op te aan ook bij naar",
    "sv": "och att det som är en på för av inte med till den ett har om",  # codespell:ignore som
    "da": "og at det er en på for af ikke med til den et har som var",  # codespell:ignore som
    "pl": "i w na z się nie to jest do że jak od przez po oraz dla",
    "tr": "ve bir bu için ile da de olarak çok daha gibi olan ne kadar",  # codespell:ignore bu
    "id": "yang dan di dengan untuk ini itu dari pada tidak adalah dalam",
    "vi": "và của là có trong được cho không một các với người này",
}
_CLEAR = 4  # common words of another language in the sample from which on a declaration is doubted
_ASCII = re.compile(r"[\x00-\x7f]+")
_NO_LETTER = re.compile(r"[^A-Za-z]+")
_WORD = re.compile(r"[^\W\d_]+")

# Common characters that only one of the two ways of writing Chinese has.
_SIMPLIFIED = frozenset(
    "们这来时会说国个对没还过发后见车东长门问间头马书学电话机开关样动业务员应现经义乐认识语读给让从两为边亲远进运"
)
_TRADITIONAL = frozenset(
    "們這來時會說國個對沒還過發後見車東長門問間頭馬書學電話機開關樣動業務員應現經義樂認識語讀給讓從兩為邊親遠進運讀給"
)


def language_of(text: str, declared: str | None) -> str | None:
    """The language of a text as a short BCP 47 code (`en`, `ja`, `zh-Hans`), None where nothing tells.

    `declared` is what the page says of itself (`<html lang>`, `Content-Language`). It counts where it is possible for
    the script of the text, which cannot be mistaken; templates leave `lang="en"` on pages in any language.
    """
    said = _short(declared)
    letters = _letters(text[:_SAMPLE])
    if not letters:
        return said
    script = _main_script(letters)
    if script == "han":
        return "ja" if said == "ja" and _is_unclear(text) else _chinese(text, said)
    if script == "kana":
        return "ja"
    if script == "latin":
        return _latin(text[:_SAMPLE], said, letters["latin"])
    written = _WRITTEN[script]
    if said is not None and said.partition("-")[0] in written:
        return said
    return written[0] if len(written) == 1 else _statistics(text[:_SAMPLE], written) or written[0]


def _letters(sample: str) -> "Counter[str]":
    """How many letters of each script there are."""
    letters = Counter(match.lastgroup or "" for match in _LETTER.finditer(_ASCII.sub("", sample)))
    plain = len(_NO_LETTER.sub("", sample))
    if plain:
        letters["latin"] += plain
    return letters


def _short(declared: str | None) -> str | None:
    """A declared tag without its region; Chinese keeps, or gets from the region, its way of writing."""
    match = _TAG.match(declared or "")
    if match is None:
        return None
    language = match[1].lower()
    language = _RENAMED.get(language, language)
    script, region = (match[2] or "").title(), (match[3] or "").upper()
    if language != "zh":
        return None if language in {"und", "mul", "zxx"} else language
    if script in {"Hans", "Hant"}:
        return f"zh-{script}"
    return {"TW": "zh-Hant", "HK": "zh-Hant", "MO": "zh-Hant", "CN": "zh-Hans", "SG": "zh-Hans"}.get(region, "zh")


def _main_script(letters: "Counter[str]") -> str:
    """The script most is written in. A Chinese character says as much as a word of three letters or more.

    Japanese has kana among its characters, Korean few other characters: a tenth of either tells.
    """
    weights = {name: count * (3 if name in {"han", "kana", "hangul"} else 1) for name, count in letters.items()}
    asian = sum(weights.get(name, 0) for name in ("han", "kana", "hangul"))
    others = {name: weight for name, weight in weights.items() if name not in {"han", "kana", "hangul"}}
    if asian <= max(others.values(), default=0):
        return max(others, key=lambda name: others[name])
    for name in ("kana", "hangul"):
        if weights.get(name, 0) > 0.1 * asian:
            return name
    return "han"


def _chinese(text: str, said: str | None) -> str:
    """Chinese with its way of writing, by the characters that differ."""
    sample = text[:_SAMPLE]
    simplified = sum(sign in _SIMPLIFIED for sign in sample)
    traditional = sum(sign in _TRADITIONAL for sign in sample)
    if simplified == traditional:
        return said if said is not None and said.startswith("zh") else "zh"
    return "zh-Hans" if simplified > traditional else "zh-Hant"


def _is_unclear(text: str) -> bool:
    """Whether a text in Chinese characters is too short for kana to be expected."""
    return len(text) < 40


def _latin(text: str, said: str | None, count: int) -> str | None:
    if said is not None and (said.partition("-")[0] in _OTHERS):
        said = None
    words = Counter(_WORD.findall(text.lower()))
    hits = {language: sum(words[word] for word in common.split()) for language, common in _COMMON.items()}
    best = max(hits, key=lambda language: hits[language])
    if said is not None and (said not in hits or hits[said] * 2 >= hits[best] or hits[best] < _CLEAR):
        return said
    if hits[best] >= 2 and hits[best] > 1.3 * sorted(hits.values())[-2]:
        return best
    return (_statistics(text) if count >= _ENOUGH else None) or said


def _statistics(text: str, languages: tuple[str, ...] | None = None) -> str | None:
    found = detect_fast(text, 1 << 30, 1, languages)
    return found[0] if found[0] != "unknown" and found[1] <= _FAR else None
