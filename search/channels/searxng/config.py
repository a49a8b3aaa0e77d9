"""What is set about a SearXNG instance, and the requests that come of it."""

import base64
import re
from dataclasses import dataclass, field
from typing import Final

from search.channels.exchange import USER_AGENT, Fault, configured, is_open_http, visible
from search.channels.languages import language_of
from search.channels.sites import with_sites
from search.query import Query, time_range_of

DEFAULT: Final = 30  # results, where neither the call nor the setting says
MOST: Final = 100

_HAN, _KANA, _HANGUL = re.compile(r"[㐀-鿿]"), re.compile(r"[぀-ヿ]"), re.compile(r"[가-힯]")


@dataclass(frozen=True, slots=True)
class SearXNGConfig:
    """An instance and how to ask it, by the names and defaults of its settings without their `searxng_`.

    `engines`: names separated by commas, "" for the instance's own choice; `auth_key`: a token, or `user:password`
    for basic authentication, or a whole header value that begins with `Bearer ` or `Basic `.
    """

    url: str
    engines: str = ""
    language: str = "zh-CN"
    safesearch: int = 1
    time_range: str = ""
    max_results: int = 0
    auth_key: str = field(default="", repr=False)
    auth_type: str = "bearer"
    format: str = "json"

    @property
    def engine_names(self) -> tuple[str, ...]:
        """The engines that are asked for, each once."""
        return tuple(dict.fromkeys(filter(None, (name.strip() for name in self.engines.split(",")))))

    def limit(self, asked: int | None) -> int:
        """How many results a search gives: the larger of setting and call, of those that are given and valid."""
        return max((each for each in (asked or 0, self.max_results) if 0 < each <= MOST), default=DEFAULT)


@dataclass(frozen=True, slots=True)
class Instance:
    """Where and how an instance is asked. `shown` is its address as sentences name it; none holds one of `secrets`."""

    search_url: str
    shown: str
    authorization: str = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    warnings: tuple[str, ...] = ()

    def headers(self, parameters: dict[str, str]) -> dict[str, str]:
        """Those that SearXNG's limiter looks for in every request (searx/botdetection), and the authentication."""
        headers = {
            "User-Agent": USER_AGENT,
            "Accept": "application/json, text/html;q=0.9",
            "Accept-Language": _accept_language(parameters),
            "Accept-Encoding": "gzip, deflate",
        }
        if self.authorization:
            headers["Authorization"] = self.authorization
        return headers


def instance_of(config: SearXNGConfig) -> Instance:
    """The instance that the settings mean. Raises Fault when they make none, or one that would leak a password."""
    if not config.url.strip():
        raise Fault("error", "No SearXNG address is set", "set searxng_url")
    base, parts = configured(config.url, "searxng_url", "/search")
    authorization = _authorization(config)
    warnings = []
    if authorization and is_open_http(parts):
        if authorization.startswith("Basic "):
            what = "Basic authentication over plain http would show the password to everyone on the way"
            raise Fault("error", what, "use https in searxng_url, or an instance on this machine")
        warnings.append("searxng_url is plain http: the key can be read on the way; use https.")
    key = config.auth_key.strip()
    secrets = (key, authorization.partition(" ")[2], key.partition(":")[2])
    return Instance(f"{base}/search", base, authorization, secrets, tuple(warnings))


def parameters_of(config: SearXNGConfig, text: str, query: Query) -> tuple[dict[str, str], list[str]]:
    """The parameters of a search but for `format`, and what could not be said in them. The call outranks settings."""
    warnings: list[str] = []
    parameters = {"q": with_sites(text, query)}
    if config.engine_names:
        parameters["engines"] = ",".join(config.engine_names)
    if tag := query.language or config.language.strip():
        parameters |= _language(tag, warnings)
    safesearch = config.safesearch if query.safesearch is None else query.safesearch
    if safesearch in {0, 1, 2}:
        parameters["safesearch"] = str(safesearch)
    if time_range := query.time_range or time_range_of(config.time_range):
        parameters["time_range"] = time_range
    elif config.time_range.strip():
        warnings.append("searxng_time_range is none of day, week, month and year: it was left out.")
    return parameters, warnings


def _authorization(config: SearXNGConfig) -> str:
    key = config.auth_key.strip()
    if not key:
        return ""
    if written := re.match(r"(bearer|basic)\s+(?=\S)", key, re.IGNORECASE):
        return f"{written[1].capitalize()} {visible(key[written.end() :], 'searxng_auth_key')}"
    match config.auth_type.strip().lower():
        case "bearer" | "":
            return f"Bearer {visible(key, 'searxng_auth_key')}"
        case "basic":
            return f"Basic {base64.b64encode(key.encode('utf-8', 'replace')).decode()}"
    raise Fault("error", "searxng_auth_type is neither bearer nor basic", "set it to one of them")


def _language(tag: str, warnings: list[str]) -> dict[str, str]:
    """SearXNG takes a language with or without a country, and `auto` and `all`; anything else is an error 400."""
    if tag.lower() in {"auto", "all"}:
        return {"language": tag.lower()}
    language = language_of(tag)
    if language is None:
        warnings.append("SearXNG does not take that language: it was left out.")
        return {}
    region = language.region or ("TW" if language.traditional else "")
    return {"language": f"{language.code}-{region}" if region else language.code}


def _accept_language(parameters: dict[str, str]) -> str:
    """English, in which reasons are read, but where the instance takes the language from here (`auto`, none)."""
    if parameters.get("language", "auto") != "auto":
        return "en"
    text = parameters.get("q", "")
    for script, languages in ((_KANA, "ja"), (_HANGUL, "ko"), (_HAN, "zh-CN,zh;q=0.9")):
        if script.search(text):
            return f"{languages},en;q=0.5"
    return "en"
