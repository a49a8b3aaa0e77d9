"""Whom the HTTP phase comes as: five visitors, each with a user agent, client hints and languages that belong together.

The first is the Chromium that would render the page, so that both phases of a fetch are one visitor. The others are
what is in use beside that version of it.
"""

from dataclasses import dataclass
from typing import Final, Literal

Family = Literal["chromium", "firefox", "safari"]
Brand = tuple[str, str]
"""A name in `Sec-CH-UA`, and its version."""

LANGUAGES: Final[tuple[tuple[str, ...], ...]] = (
    ("en-US", "en"),  # what Chromium asks for by itself
    ("zh-CN", "zh", "en-US", "en"),
    ("zh-CN", "zh"),
)
"""What attempts ask for, in turn: English first, Chinese and English mixed, Chinese first."""

_GREASE = " (:-./);=?_"
_GREASE_VERSIONS = ("8", "99", "24")
_ORDERS = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
_PLATFORMS = (("Android", "Android"), ("Windows", "Windows"), ("Mac OS X", "macOS"))
_WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


@dataclass(frozen=True, slots=True)
class Identity:
    """One visitor. `version` is the browser's own major version; `brands` are there for Chromium's family alone."""

    name: str
    user_agent: str
    family: Family
    version: str
    platform: str
    mobile: bool = False
    brands: tuple[Brand, ...] = ()

    def accept_language(self, languages: tuple[str, ...]) -> str:
        """`Accept-Language` for these, best first, with the weights that this browser gives them."""
        return ",".join(
            language if at == 0 else f"{language};q={self._weight(at, len(languages))}"
            for at, language in enumerate(languages)
        )

    def _weight(self, at: int, count: int) -> str:
        if self.family == "firefox":  # spread evenly over the list: netwerk/protocol/http/nsHttpHandler.cpp
            return f"0.{int(10 * (1 - at / count) + 0.5)}"
        return f"0.{max(1, 10 - at)}"


def identities(chromium_version: str, user_agent: str) -> tuple[Identity, ...]:
    """The five, of which the first is the Chromium of this version (`156.0.8078.114`) and user agent.

    What its name among the brands is, other than Chromium, cannot be seen in them: Google Chrome has the same user
    agent. Raises ValueError for a version that does not begin with a number.
    """
    major = int(chromium_version.partition(".")[0])
    headless = "HeadlessChrome" if "HeadlessChrome/" in user_agent else None
    return (
        Identity(
            "chromium",
            user_agent,
            "chromium",
            str(major),
            next((name for sign, name in _PLATFORMS if sign in user_agent), "Linux"),
            "Mobile" in user_agent,
            brands(major, headless),
        ),
        _edge(major),
        _safari(major),
        _firefox(major),
        _mobile_chrome(major),
    )


def brands(major: int, own: str | None = None) -> tuple[Brand, ...]:
    """The list of `Sec-CH-UA`, in the order of this version and with the name that it makes up.

    Both follow from the version (components/embedder_support/user_agent_utils.cc). `own`: the name beside Chromium.
    """
    made_up = f"Not{_GREASE[major % 11]}A{_GREASE[(major + 1) % 11]}Brand"
    plain = [(made_up, _GREASE_VERSIONS[major % 3]), ("Chromium", str(major))]
    if own is None:
        return tuple(plain if major % 2 == 0 else reversed(plain))
    plain.append((own, str(major)))
    placed = dict(zip(_ORDERS[major % 6], plain, strict=True))
    return tuple(placed[at] for at in range(3))


def _edge(major: int) -> Identity:
    agent = f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {_WEBKIT} Chrome/{major}.0.0.0 Safari/537.36 Edg/{major}.0.0.0"
    return Identity("edge", agent, "chromium", str(major), "Windows", False, brands(major, "Microsoft Edge"))


def _safari(major: int) -> Identity:
    """Safari 26 came with Chromium 140; since then a major version each September, and a minor one in ten weeks."""
    years, months = divmod(max(0, major - 140), 13)
    version = f"{26 + years}.{min(months // 2, 5)}"
    agent = (
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) "
        f"Version/{version} Safari/605.1.15"
    )
    return Identity("safari", agent, "safari", version, "macOS")


def _firefox(major: int) -> Identity:
    """Firefox 145 was current with Chromium 143; both come every four weeks."""
    version = f"{major + 2}.0"
    agent = f"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:{version}) Gecko/20100101 Firefox/{version}"
    return Identity("firefox", agent, "firefox", version, "Windows")


def _mobile_chrome(major: int) -> Identity:
    agent = f"Mozilla/5.0 (Linux; Android 10; K) {_WEBKIT} Chrome/{major}.0.0.0 Mobile Safari/537.36"
    return Identity("mobile_chrome", agent, "chromium", str(major), "Android", True, brands(major, "Google Chrome"))
