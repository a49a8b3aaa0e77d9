"""The scraping engines: one file each. A new one is listed here, and has its selectors in `selectors.toml`."""

from typing import Final

from search.engine import Engine
from search.engines.baidu import Baidu
from search.engines.bing import Bing
from search.engines.dates import Clock, utc_now
from search.engines.duckduckgo import DuckDuckGo
from search.engines.scraper import Scraper
from search.engines.so360 import So360
from search.engines.sogou import Sogou
from search.visitor import VERSION

ENGINES: Final[tuple[type[Scraper], ...]] = (Bing, Baidu, Sogou, So360, DuckDuckGo)

DEFAULT: Final = ("bing", "baidu", "sogou", "so360")
"""Those that are asked when none are named."""


def engines(version: str = VERSION, now: Clock = utc_now) -> tuple[Engine, ...]:
    """One of each, coming as browsers of this version of Chromium.

    Raises ValueError for a version that does not begin with a number.
    """
    return tuple(kind(version, now) for kind in ENGINES)
