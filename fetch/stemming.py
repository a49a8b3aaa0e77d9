"""English words without their commonest endings, so that a question finds the other form of its words."""


def stem(word: str) -> str:
    """An English word without plural, past and -ing endings; other words nearly as they are."""
    if not word.isascii() or len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    for ending, instead in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) + len(instead) >= 3:
            rest += instead
            doubled = len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lsz"
            return rest[:-1] if doubled else rest.removesuffix("e")
    return word.removesuffix("e")
