"""Who uses the console: a key is given once, in a form, and a cookie stands for it from then on.

The cookie is a random name for that login, kept here in memory alone; the key itself goes nowhere. It is sent to /ui
and nothing else, no script can read it, and no other site can have it sent (HttpOnly, SameSite=Strict). What is on
another port of the same host counts as the same site, so every call that changes anything must also say that it comes
from a page of exactly this origin.
"""

import hashlib
import secrets
from typing import Final

from cachetools import TTLCache
from fastapi import Request, Response

from browser_service.errors import Forbidden, Unauthorized
from browser_service.interfaces.gate import identify
from browser_service.operations.operation import Caller
from browser_service.settings import Settings

COOKIE: Final = "tabwright_console"
PATH: Final = "/ui"
LOGIN_S: Final = 12 * 3600
LOGINS: Final = 1000


class Access:
    """The logins of one service."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._logins: TTLCache[bytes, Caller] = TTLCache(LOGINS, LOGIN_S)

    @property
    def needs_login(self) -> bool:
        """Whether keys are configured."""
        return bool(self._settings.api_keys)

    def identify(self, request: Request) -> Caller:
        """Who calls. Raises Forbidden for calls of other origins, Unauthorized without a login."""
        if request.method not in {"GET", "HEAD"}:
            check_origin(request)
        if not self.needs_login:
            return identify(self._settings, "")
        caller = self._logins.get(_digest(request.cookies.get(COOKIE, "")))
        if caller is None:
            raise Unauthorized("Nobody is logged in here, or the login has ended.", hint="Log in at /ui/login.")
        return caller

    def log_in(self, request: Request, response: Response, key: str) -> None:
        """Let `response` set the cookie for the owner of this key. Raises Unauthorized, or Forbidden without admin."""
        caller = identify(self._settings, f"Bearer {key}")
        if "admin" not in caller.scopes:
            raise Forbidden(
                f"The key {caller.name!r} may not change settings: it needs the scope admin.",
                hint='Give one in TABWRIGHT_API_KEYS: [{"name": "me", "key": "…", "scopes": ["admin"]}].',
            )
        token = secrets.token_urlsafe(32)
        self._logins[_digest(token)] = caller
        secure = request.url.scheme == "https"
        response.set_cookie(COOKIE, token, LOGIN_S, path=PATH, httponly=True, samesite="strict", secure=secure)

    def log_out(self, request: Request, response: Response) -> None:
        """Forget the login."""
        self._logins.pop(_digest(request.cookies.get(COOKIE, "")), None)
        response.delete_cookie(COOKIE, path=PATH, httponly=True, samesite="strict")


def check_origin(request: Request) -> None:
    """Raise Forbidden unless a page of this very origin sent it. The scheme is a proxy's business, the rest is not."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    same = origin is not None and origin.partition("://")[2].lower() == request.headers.get("host", "").lower()
    if not same or site not in {None, "same-origin"}:
        raise Forbidden("Only the console's own pages may do this.", hint="Programs call /v1 with a key.")


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
