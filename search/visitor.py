"""Whom search comes as: a desktop browser, the same for every request of an engine."""

from dataclasses import replace
from typing import Final

from stealth.identity import Identity, brands, identities

VERSION: Final = "156"
"""Major version of Chromium that is claimed where the version of a running browser is not known."""

_WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)"
_CHROME = f"{_WINDOWS} AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{{}}.0.0.0 Safari/537.36"


def chrome(version: str = VERSION) -> Identity:
    """Google Chrome on Windows. Raises ValueError for a version that does not begin with a number."""
    major = int(version.partition(".")[0])
    plain = identities(version, _CHROME.format(major))[0]
    return replace(plain, name="chrome", brands=brands(major, "Google Chrome"))


def edge(version: str = VERSION) -> Identity:
    """Microsoft Edge on Windows. Raises ValueError for a version that does not begin with a number."""
    return next(each for each in identities(version, _CHROME) if each.name == "edge")
