"""What a caller may choose about a browser context, and what it means to Playwright."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal
from urllib.parse import quote, urlsplit
from zoneinfo import available_timezones

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

NARROWEST = 500  # a desktop window of Chromium is not narrower; below, the size has to be emulated
Block = Literal["image", "media", "font", "stylesheet", "ads"]
HeaderName = Annotated[str, Field(pattern=r"^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$", max_length=200)]
HeaderValue = Annotated[str, Field(pattern=r"^[^\r\n\x00]*$", max_length=8192)]

# Chromium computes these itself; a caller's value would make the request malformed or slip past the egress proxy.
_OWN_HEADERS = frozenset(
    {"connection", "content-length", "host", "proxy-authorization", "proxy-connection", "transfer-encoding", "upgrade"}
)


def refuse_own_headers(headers: Iterable[str], field: str) -> None:
    """Raise ValueError for a header that is the browser's to set."""
    for name in headers:
        if name.lower() in _OWN_HEADERS:
            raise ValueError(f"{field}: {name} is set by the browser itself")


class Part(BaseModel):
    """A group of parameters; unknown names are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Viewport(Part):
    """Size of the visible part of a page, in CSS pixels."""

    width: int = Field(1280, ge=100, le=7680)
    height: int = Field(800, ge=100, le=4320)


class Credentials(Part):
    """User and password for HTTP authentication."""

    username: str = Field(max_length=1000)
    password: SecretStr


class Proxy(Part):
    """A proxy that this session's traffic takes."""

    server: str = Field(
        max_length=2000, description="http://, https:// or socks5://host:port", examples=["http://proxy.example:8080"]
    )
    username: str | None = Field(None, max_length=1000)
    password: SecretStr | None = None

    @field_validator("server")
    @classmethod
    def _usable(cls, server: str) -> str:
        parts = urlsplit(server)
        if parts.scheme not in {"http", "https", "socks5"} or not parts.hostname:
            raise ValueError("must be http://, https:// or socks5:// and a host")
        if parts.username or parts.password:
            raise ValueError("give user and password in their own fields")
        return server

    def url(self) -> str:
        """The proxy's address with its credentials."""
        parts = urlsplit(self.server)
        if self.username is None:
            return self.server
        password = self.password.get_secret_value() if self.password else ""
        return f"{parts.scheme}://{quote(self.username, safe='')}:{quote(password, safe='')}@{parts.netloc}"


class Cookie(Part):
    """One cookie of a storage state."""

    name: str = Field(min_length=1, max_length=4096)
    value: str = Field(max_length=4096)
    domain: str = Field(min_length=1, max_length=253)
    path: str = Field("/", max_length=4096)
    expires: float = Field(
        -1, ge=-1, le=253_402_300_799, allow_inf_nan=False, description="seconds since 1970; -1: none"
    )
    http_only: bool = Field(False, alias="httpOnly")
    secure: bool = False
    same_site: Literal["Strict", "Lax", "None"] = Field("Lax", alias="sameSite")
    model_config = ConfigDict(populate_by_name=True, frozen=True, extra="ignore")


class StoredItem(Part):
    """One entry of local storage."""

    name: str = Field(max_length=100_000)
    value: str = Field(max_length=5_000_000)


class Origin(Part):
    """The local storage of one origin."""

    origin: str = Field(max_length=2_000, pattern=r"^https?://[^/\s]+$", examples=["https://example.com"])
    local_storage: list[StoredItem] = Field(default_factory=list, alias="localStorage")
    model_config = ConfigDict(populate_by_name=True, frozen=True, extra="ignore")


class StorageState(Part):
    """Cookies and local storage, as browsers' tools export them."""

    cookies: list[Cookie] = Field(default_factory=list, max_length=3000)
    origins: list[Origin] = Field(default_factory=list, max_length=500)


class ContextOptions(Part):
    """What a session's browser context is like. All are optional."""

    viewport: Viewport = Field(default_factory=Viewport, description="size of the visible part of a page")
    device_scale_factor: float = Field(1, ge=0.5, le=4, description="device pixels for one CSS pixel")
    mobile: bool = Field(False, description="meta viewport and touch, as on a phone")
    user_agent: str | None = Field(
        None, description="what the browser calls itself", min_length=1, max_length=1000, pattern=r"^[\x20-\x7e]+$"
    )
    locale: str | None = Field(
        None,
        description="language of pages and formats",
        pattern=r"^[A-Za-z]{2,8}([-_][A-Za-z0-9]{2,8})*$",
        examples=["de-DE"],
    )
    timezone: str | None = Field(
        None, description="IANA name of the time zone", max_length=100, examples=["Europe/Berlin"]
    )
    color_scheme: Literal["light", "dark", "no-preference"] | None = Field(None, description="what pages are told")
    extra_headers: dict[HeaderName, HeaderValue] = Field(
        default_factory=dict, max_length=50, description="sent with every request"
    )
    proxy: Proxy | None = Field(None, description="a proxy that all traffic takes")
    storage_state: StorageState | None = Field(None, description="cookies and local storage to begin with")
    block: frozenset[Block] = Field(default=frozenset(), description="kinds of requests that are not made")
    ignore_https_errors: bool = Field(False, description="open sites with certificates that are not trusted")
    http_credentials: Credentials | None = Field(None, description="answered to HTTP authentication")
    dialogs: Literal["default", "accept", "dismiss"] = Field(
        "default", description="default: accept alert and beforeunload, dismiss confirm and prompt"
    )
    browser: Literal["full", "light"] = Field("full", description="light: the headless shell, cheaper and plainer")

    @field_validator("timezone")
    @classmethod
    def _known(cls, name: str | None) -> str | None:
        if name is not None and (name not in available_timezones() or name == "localtime"):
            raise ValueError("is not an IANA time zone such as Europe/Berlin")
        return name

    @model_validator(mode="after")
    def _headers_are_the_callers(self) -> "ContextOptions":
        refuse_own_headers(self.extra_headers, "extra_headers")
        return self

    def emulated(self) -> bool:
        """Whether the size needs emulation; otherwise the real window has it."""
        return (
            self.browser == "light" or self.device_scale_factor != 1 or self.mobile or self.viewport.width < NARROWEST
        )

    def plain(self) -> bool:
        """Whether a context made before anyone asked for it serves: nothing that is fixed when a context is made."""
        later = {"viewport": Viewport(), "proxy": None, "dialogs": "default", "block": frozenset[Block]()}
        plain = ContextOptions(browser=self.browser)
        return self.model_copy(update=later) == plain and self.emulated() == plain.emulated()

    def for_playwright(self) -> dict[str, Any]:
        """Keyword arguments of `Browser.new_context`."""
        given: dict[str, Any] = {"accept_downloads": False}
        if self.emulated():
            given |= {
                "viewport": self.viewport.model_dump(),
                "screen": self.viewport.model_dump(),
                "device_scale_factor": self.device_scale_factor,
                "is_mobile": self.mobile,
                "has_touch": self.mobile,
            }
        else:
            given["no_viewport"] = True
        optional = {
            "user_agent": self.user_agent,
            "locale": self.locale and self.locale.replace("_", "-"),
            "timezone_id": self.timezone,
            "color_scheme": self.color_scheme,
            "extra_http_headers": self.extra_headers or None,
            "ignore_https_errors": self.ignore_https_errors or None,
        }
        given |= {name: value for name, value in optional.items() if value is not None}
        if self.storage_state is not None:
            given["storage_state"] = self.storage_state.model_dump(by_alias=True)
        if self.http_credentials is not None:
            given["http_credentials"] = {
                "username": self.http_credentials.username,
                "password": self.http_credentials.password.get_secret_value(),
            }
        return given
