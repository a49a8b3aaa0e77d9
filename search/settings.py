"""The settings of web search: names, defaults, limits. Where their values come from is the service's business."""

import re
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

from fetch.address import Rule, parse_address
from fetch.errors import TabwrightError
from search.engines import ENGINES
from search.query import time_range_of

MAX_RESULTS: Final = 100
MAX_FETCHED: Final = 8
TAVILY: Final = "https://api.tavily.com"
ANTHROPIC: Final = "https://api.anthropic.com"

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_LANGUAGE = re.compile(r"auto|all|[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
_ENGINES = frozenset(engine.name for engine in ENGINES)


def _stripped(given: Any) -> Any:
    return given.strip() if isinstance(given, str) else given


def _one_line(text: str) -> str:
    if _CONTROLS.search(text):
        raise ValueError("must be one line, without control characters")
    return text


def _address(text: str) -> str:
    """As it was written, once it is known to be an address that may be asked: the cloud's metadata never is."""
    if not text:
        return text
    try:
        address = parse_address(text)
        host = f"[{address.host}]" if ":" in address.host else address.host
        Rule(allow=[host]).check(address.host, address.port)
    except TabwrightError as fault:
        raise ValueError(fault.detail) from None
    if "#" in text or "?" in text:
        raise ValueError("must end with the path: no ? and no #")
    return text


def _language(text: str) -> str:
    if not _LANGUAGE.fullmatch(text):
        raise ValueError("must be auto, or a language tag such as zh-CN, zh-TW, en, ja, ko")
    return text


def _names(text: str) -> str:
    return ",".join(name for each in text.split(",") if (name := each.strip()))


def _engine_names(text: str) -> str:
    names = _names(text).lower()
    if names and not set(names.split(",")) <= _ENGINES:
        raise ValueError(f"must be names of engines separated by commas, of {', '.join(sorted(_ENGINES))}")
    return names


def _time_range(given: Any) -> Any:
    if not isinstance(given, str) or not given.strip() or given.strip().lower() == "any":
        return given if not isinstance(given, str) else ""
    return time_range_of(given) or given


def _number(given: Any) -> Any:
    """The environment has only text; True is no number."""
    if isinstance(given, bool):
        return str(given)
    return int(given) if isinstance(given, str) and re.fullmatch(r"\s*[0-9]{1,3}\s*", given) else given


def _adapter(given: Any) -> Any:
    name = given.strip().lower() if isinstance(given, str) else given
    return "anthropic" if name == "api" else name


def _secret(given: SecretStr) -> SecretStr:
    return SecretStr(_one_line(given.get_secret_value()))


_Text = Annotated[str, BeforeValidator(_stripped), Field(max_length=2000), AfterValidator(_one_line)]
Url = Annotated[_Text, AfterValidator(_address)]
Secret = Annotated[SecretStr, BeforeValidator(_stripped), Field(max_length=4096), AfterValidator(_secret)]
Adapter = Literal["", "builtin", "searxng", "tavily", "brave", "anthropic", "bing", "ddgs"]
GivenAdapter = Annotated[Adapter, BeforeValidator(_adapter)]
"""By any letter case; `api` is an older name of Anthropic's."""


class SearchSettings(BaseModel):
    """All of them. An empty text means: not set."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    searxng_enabled: bool = Field(False, description="search through a SearXNG instance")
    searxng_url: Url = Field("", description="address of the SearXNG instance (http or https)")
    searxng_engines: Annotated[_Text, AfterValidator(_names)] = Field(
        "", description="SearXNG's engines to ask, separated by commas; empty: those that it asks by itself"
    )
    searxng_language: Annotated[_Text, AfterValidator(_language)] = Field(
        "zh-CN", description="language of the results (zh-CN, zh-TW, en, ja, ko …), or auto"
    )
    searxng_safesearch: Annotated[Literal[0, 1, 2], BeforeValidator(_number)] = Field(
        1, description="safe search: 0 off, 1 moderate, 2 strict"
    )
    searxng_time_range: Annotated[Literal["", "day", "week", "month", "year"], BeforeValidator(_time_range)] = Field(
        "", description="how old results may be; empty: any age"
    )
    searxng_max_results: int = Field(
        0, ge=0, le=MAX_RESULTS, description="results wanted of SearXNG; 0: as the call says"
    )
    searxng_auth_key: Secret = Field(SecretStr(""), description="token, or user:password, for the SearXNG instance")
    searxng_auth_type: Literal["bearer", "basic"] = Field("bearer", description="how searxng_auth_key is sent")
    searxng_format: Literal["json", "html"] = Field("json", description="json: structured; html: the raw page")
    fetch_count: int = Field(
        0, ge=0, le=MAX_FETCHED, description="pages to read with every search through SearXNG; 0: as the call says"
    )
    fetch_mode: Literal["sequential", "random"] = Field("sequential", description="best results first, or any")

    adapter: GivenAdapter = Field(
        "", description="the channel to search by (api means anthropic); empty: the first that is set up"
    )
    failover: bool = Field(False, description="go on to the next channel when one fails")
    engines: Annotated[_Text, AfterValidator(_engine_names)] = Field(
        "", description="built-in engines to ask, separated by commas; empty: all"
    )
    ranking: Literal["rrf", "weighted"] = Field(
        "rrf", description="how results are put in order: rank fusion, or a sum of weights"
    )
    tavily_api_key: Secret = Field(SecretStr(""), description="key for Tavily")
    tavily_base_url: Url = Field(TAVILY, description="address of Tavily's API, or of a gateway to it")
    brave_api_key: Secret = Field(SecretStr(""), description="key for Brave Search")
    brave_mode: Literal["web", "llm_context"] = Field(
        "web", description="what Brave is asked for: its web search, or longer texts for language models"
    )
    anthropic_api_key: Secret = Field(SecretStr(""), description="key for Anthropic's API")
    anthropic_base_url: Url = Field(ANTHROPIC, description="address of Anthropic's API, or of a gateway to it")
    anthropic_model: _Text = Field(
        "", description="model that searches through Anthropic; empty: one that is known to do"
    )


SECRETS: Final = frozenset(
    {name for name, field in SearchSettings.model_fields.items() if field.annotation is SecretStr}
)

HOMES: Final = {
    "searxng_auth_key": "searxng_url",
    "tavily_api_key": "tavily_base_url",
    "anthropic_api_key": "anthropic_base_url",
}
"""Which address a secret belongs to: what was saved for one host is not sent to another."""

ALIASES: Final = {
    "adapter": ("WEB_SEARCH_ADAPTER",),
    "tavily_api_key": ("TAVILY_API_KEY",),
    "tavily_base_url": ("TAVILY_BASE_URL",),
    "brave_api_key": ("BRAVE_SEARCH_API_KEY", "BRAVE_API_KEY"),
    "anthropic_api_key": ("ANTHROPIC_API_KEY",),
    "anthropic_base_url": ("ANTHROPIC_BASE_URL",),
}
"""Names of environment variables that other programs read, too."""


def origin(url: str) -> str:
    """Scheme, host and port of an address, as it is contacted; empty for an empty one."""
    if not url:
        return ""
    address = parse_address(url)
    return f"{address.scheme}://{address.host}:{address.port}"
