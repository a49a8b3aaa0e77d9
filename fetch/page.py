"""What the parts of a fetch pass on: a page as it came, and what was read in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

BARE = 20
"""Characters of content that are next to nothing."""

Method = Literal["http", "browser"]
Format = Literal["text", "markdown", "html", "links"]
ExtractMode = Literal["auto", "article", "full"]
Outcome = Literal["ok", "blocked", "challenge", "login_wall", "consent_wall", "paywall", "not_found", "empty"]


@dataclass(frozen=True)
class Cookie:
    """A cookie that a server set, with what decides where it is sent. `expires`: seconds since 1970, None: session."""

    name: str
    value: str
    domain: str
    path: str = "/"
    expires: float | None = None
    secure: bool = False
    http_only: bool = False


@dataclass(frozen=True)
class Page:
    """One answer, by whichever way it came.

    `url` is the address after redirects, `redirects` the ones before it with their statuses. Over HTTP `body` holds the
    bytes, content encodings undone; from a browser `html` holds the document as it stood, with open shadow roots
    (declarative) and the frames' documents in place, and `body` is empty. `content_type` is the media type in lower
    case without parameters, empty when the server said none; `charset` the label beside it. `headers` are the last
    answer's, names in lower case. `cut`: the body ended before its declared end.
    """

    url: str
    method: Method
    status: int | None
    content_type: str = ""
    charset: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    html: str | None = None
    title: str = ""
    redirects: tuple[tuple[str, int], ...] = ()
    cookies: tuple[Cookie, ...] = ()
    cut: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wish:
    """What is wanted of a page: the form of its content and the part of it."""

    format: Format = "text"
    extract_mode: ExtractMode = "auto"
    selector: str | None = None


@dataclass(frozen=True)
class Link:
    """A link of the page: absolute address and the words on it."""

    url: str
    text: str


@dataclass(frozen=True)
class Metadata:
    """What a page says about itself; None where it does not. `json_ld` and `open_graph` are as they are in the page."""

    description: str | None = None
    author: str | None = None
    published: str | None = None
    site: str | None = None
    canonical: str | None = None
    image: str | None = None
    json_ld: tuple[object, ...] = ()
    open_graph: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """What kind of answer a page is. `evidence` names the rules that fired and on what.

    `may_lift`: a challenge that may go away by itself in a browser.
    """

    outcome: Outcome = "ok"
    evidence: tuple[str, ...] = ()
    may_lift: bool = False


@dataclass(frozen=True)
class Reading:
    """What was read in a page, whole.

    `characters` counts the text that a person would see in the whole page; `render` says why a browser would probably
    see more, None when it would not. `extractor` names what chose the content, `words_kept` its share of the page's
    words.
    """

    content: str
    title: str = ""
    verdict: Verdict = field(default_factory=Verdict)
    render: str | None = None
    characters: int = 0
    charset: str | None = None
    language: str | None = None
    metadata: Metadata = field(default_factory=Metadata)
    links: tuple[Link, ...] = ()
    extractor: str = ""
    words_kept: float = 1.0
    warnings: tuple[str, ...] = ()
