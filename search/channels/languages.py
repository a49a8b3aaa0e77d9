"""Language tags, taken apart for APIs that each write them in their own way."""

import re
from typing import NamedTuple

_TRADITIONAL = frozenset({"TW", "HK", "MO"})


class Language(NamedTuple):
    """A BCP 47 tag: `code` in lower case, `region` of two letters in upper case or ""."""

    code: str
    region: str = ""
    traditional: bool = False  # Chinese: which of the two scripts


def language_of(tag: str | None) -> Language | None:
    """The parts of a tag as `zh-CN`, `zh_Hant_TW` or `en`; None for no tag, `auto`, `all` and what is none."""
    parts = re.split(r"[-_]", (tag or "").strip())
    code = parts[0].lower()
    if code in {"all", "any"} or not re.fullmatch(r"[a-z]{2,3}", code):
        return None
    region = next((part.upper() for part in parts[1:] if re.fullmatch(r"[A-Za-z]{2}", part)), "")
    scripts = {part.lower() for part in parts[1:]}
    return Language(code, region, "hant" in scripts or ("hans" not in scripts and region in _TRADITIONAL))
