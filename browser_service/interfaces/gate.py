"""What every HTTP request passes first: its id, the Host check, the size of its body, the log line; and who calls."""

import asyncio
import contextvars
import ipaddress
import logging
import re
import secrets
import time
from collections.abc import Sequence

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from browser_service.errors import ContentTooLarge, Forbidden, InvalidRequest, TabwrightError, TimedOut, Unauthorized
from browser_service.interfaces.problems import MEDIA_TYPE, headers_of, problem, status_of, unforeseen
from browser_service.operations.operation import EVERYTHING, Caller
from browser_service.settings import Settings

_log = logging.getLogger("tabwright.access")

request_id: contextvars.ContextVar[str] = contextvars.ContextVar("request_id", default="-")

BODY_LIMIT_S = 30.0
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_SANE_ID = re.compile(r"[A-Za-z0-9._:\-]{1,128}")


class Gate:
    """ASGI middleware. Refusals are problem documents, as all failures are."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._hosts = _Hosts(settings.allowed_hosts)
        self._limit = settings.max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        given = headers.get("x-request-id", "")
        identity = given if _SANE_ID.fullmatch(given) else secrets.token_hex(8)
        token = request_id.set(identity)
        began = time.perf_counter()
        sent = _Sent(send, identity)
        counted = _Counted(receive, self._limit)
        try:
            self._hosts.check(headers, len(hosts), scope.get("server"))
            counted.expect(headers.get("content-length", ""))
            await self._app(scope, counted, sent)
        except TabwrightError as fault:
            await _refuse(fault, identity, scope, receive, sent)
        except Exception as fault:
            ours = unforeseen(fault)
            if sent.status:
                raise  # the answer has begun: the connection can only be cut
            await _refuse(ours, identity, scope, receive, sent)
        finally:
            took = (time.perf_counter() - began) * 1000
            _log.info("%s %s %s %.0f ms", scope["method"], scope["path"], sent.status or "-", took)
            request_id.reset(token)


class _Sent:
    """Adds the request's id to the answer and remembers its status."""

    def __init__(self, send: Send, identity: str) -> None:
        self._send = send
        self._identity = identity
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", ()), (b"x-request-id", self._identity.encode())]
        await self._send(message)


class _Counted:
    """Counts the body as it comes: what a client declares proves nothing."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._seen = 0
        self._whole = False

    def expect(self, declared: str) -> None:
        if declared.isdigit() and int(declared) > self._limit:
            raise self._too_large()

    async def __call__(self) -> Message:
        if self._whole:
            return await self._receive()
        try:
            async with asyncio.timeout(BODY_LIMIT_S):
                message = await self._receive()
        except TimeoutError:
            raise TimedOut("The request body did not arrive in time.", hint="Send it at once.") from None
        self._whole = not message.get("more_body", False)
        if message["type"] == "http.request":
            self._seen += len(message.get("body", b""))
            if self._seen > self._limit:
                raise self._too_large()
        return message

    def _too_large(self) -> ContentTooLarge:
        return ContentTooLarge(f"The request body is larger than {self._limit} bytes.", hint="Send less at a time.")


class _Hosts:
    """Which names this service answers to: against DNS rebinding, no page's script may reach it under its own name."""

    def __init__(self, allowed: Sequence[str]) -> None:
        self._allowed = {name.lower() for name in allowed}

    def check(self, headers: dict[str, str], hosts: int, server: tuple[str, int | None] | None) -> None:
        """Raise Forbidden for a Host, or an Origin, that is not ours, InvalidRequest for several Host headers.

        `server` is where the request came in: address and port.
        """
        if hosts > 1:
            raise InvalidRequest("The request has more than one Host header.")
        host = headers.get("host", "").lower()
        if not self._ours(host):
            raise Forbidden(
                f"This service does not answer to the host name {host[:200]!r}.",
                hint="Use its address, or add the name to TABWRIGHT_ALLOWED_HOSTS.",
            )
        origin = headers.get("origin")
        if origin is not None and not self._may_call(origin.lower(), host, server):
            raise Forbidden(
                f"Pages of {origin[:200]!r} may not call this service.",
                hint="Call it from a program, or add the host to TABWRIGHT_ALLOWED_HOSTS.",
            )

    def _ours(self, authority: str) -> bool:
        name = _name(authority)
        return name == "localhost" or name in self._allowed or _is_address(name)

    def _may_call(self, origin: str, host: str, server: tuple[str, int | None] | None) -> bool:
        """Pages of this service itself, under whatever name it was called, and of hosts that were named for it.

        The scheme is the business of a proxy in front.
        """
        scheme, _, authority = origin.partition("://")
        if scheme not in {"http", "https"} or not authority:
            return False
        if authority == host or _name(authority) in self._allowed:
            return True
        return _name(authority) in _LOOPBACK and server is not None and authority.endswith(f":{server[1]}")


def _name(authority: str) -> str:
    name = authority.rsplit("@", 1)[-1]
    return name[1:].split("]", 1)[0] if name.startswith("[") else name.rsplit(":", 1)[0]


def _is_address(name: str) -> bool:
    """Whether it is an address rather than a name: those cannot be rebound."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def identify(settings: Settings, authorization: str) -> Caller:
    """Who calls, by the bearer token. Without configured keys everybody on this machine may do everything."""
    if not settings.api_keys:
        return EVERYTHING
    kind, _, token = authorization.partition(" ")
    if kind.lower() == "bearer" and token:
        matches = [key for key in settings.api_keys if key.fits(token.strip())]
        if matches:
            return Caller(matches[0].name, matches[0].scopes)
    raise Unauthorized(
        "This service needs a key." if not authorization else "This key is not known.",
        hint="Send Authorization: Bearer <key>, with one of the keys in TABWRIGHT_API_KEYS.",
    )


async def _refuse(fault: TabwrightError, identity: str, scope: Scope, receive: Receive, send: Send) -> None:
    answer = JSONResponse(problem(fault, identity), status_of(fault), headers=headers_of(fault), media_type=MEDIA_TYPE)
    await answer(scope, receive, send)
