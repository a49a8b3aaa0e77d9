"""One request of a channel and its answer, and what went wrong, as a sentence that says what to change."""

import json
import re
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import Final, NamedTuple

import httpx

from fetch.address import Address, is_localhost, parse_address
from fetch.errors import TabwrightError, TimedOut
from search.channels.values import items, line, mapping
from search.engine import Answer, Found, Send, State
from search.query import Query

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
USER_AGENT: Final = "Tabwright"  # no browser's: instances hold those to headers that only browsers send

_VISIBLE = re.compile(r"[\x21-\x7e]+(?: [\x21-\x7e]+)*")
_LOGIN = re.compile(r"log-?in|sign-?in|auth|sso|oauth|saml|account", re.IGNORECASE)


class Meaning(NamedTuple):
    """What a status means: `what` follows the service's name, `advice` says what to change."""

    state: State
    what: str
    advice: str


class Fault(Exception):
    """A channel has no results. `what` happened and `advice`, what to change, are one sentence together."""

    def __init__(self, state: State, what: str, advice: str = "", retry_after_s: float | None = None) -> None:
        super().__init__(what)
        self.state, self.what, self.advice, self.retry_after_s = state, what, advice, retry_after_s

    @property
    def sentence(self) -> str:
        """For the `error` of an answer."""
        return f"{self.what}: {self.advice}." if self.advice else f"{self.what}."

    def found(self, name: str, warnings: Sequence[str] = ()) -> Found:
        """As the answer of a channel that is one engine."""
        answer = Answer(name, self.state, error=self.sentence, retry_after_s=self.retry_after_s)
        return Found((answer,), tuple(warnings))


def words_of(query: Query, most: int = 10_000) -> str:
    """The query's text in one line of at most `most` characters. Raises Fault when there is none."""
    text = line(query.text, 10_000)
    if not text:
        raise Fault("error", "The query is empty", "give words to search for")
    return text if len(text) <= most else text[: most + 1].rsplit(" ", 1)[0][:most].rstrip()


def posted(url: str, headers: Mapping[str, str], body: Mapping[str, object]) -> httpx.Request:
    """A request with a JSON body in ASCII, as what a service sent may go back to it, halves of surrogates too."""
    try:
        content = json.dumps(body).encode()
    except RecursionError as error:
        raise Fault("unreadable", "The answer is nested too deeply to be sent back", "try again") from error
    return httpx.Request("POST", url, headers={**headers, "Content-Type": "application/json"}, content=content)


async def reply(request: httpx.Request, send: Send, service: str) -> httpx.Response:
    """The answer of a service that the sentences call `service`. Raises Fault when there is none."""
    try:
        return await send(request)
    except TimedOut as error:
        raise Fault("timeout", f"{service} did not answer in time", "try again, or raise timeout_ms") from error
    except TabwrightError as error:
        advice = (error.hint or "check that it runs and that this machine reaches it").rstrip(".")
        raise Fault("error", f"{service} gave no answer: {error.detail.rstrip('.')}", advice) from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:  # the latter for a redirect to nowhere
        why = line(str(error), 200) or type(error).__name__
        advice = "check that it runs and that this machine reaches it"
        raise Fault("error", f"{service} gave no answer ({why})", advice) from error


def json_of(response: httpx.Response) -> object:
    """The body as JSON, control characters inside strings allowed. Raises ValueError when it is none."""
    try:
        return json.loads(response.content, strict=False)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def json_object(response: httpx.Response, service: str, setting: str) -> Mapping[str, object]:
    """The body of a successful answer. Raises Fault when it is no JSON object; `setting` holds the address."""
    try:
        body = json_of(response)
    except ValueError as error:
        if is_html(response):
            advice = f"check {setting}, and what stands between this machine and it"
            raise Fault("unreadable", f"{service} answered with a web page where JSON was due", advice) from error
        raise Fault("unreadable", f"{service} answered with JSON that is broken or cut off", "try again") from error
    if not isinstance(body, dict):
        raise Fault("unreadable", f"{service} answered with JSON that is no object", f"check {setting}")
    return body


def items_of(body: Mapping[str, object], field: str, service: str, setting: str) -> list[object]:
    """The array that a field of an answer must hold. Raises Fault when it holds something else, or junk alone."""
    value = body.get(field)
    if isinstance(value, list) and (not value or any(isinstance(each, dict) for each in value)):
        return items(value)
    what = f"{service} answered without a list of {field}{said(body)}"
    raise Fault("unreadable", what, f"check {setting}: another program may answer there")


def is_html(response: httpx.Response) -> bool:
    """Whether the answer is a web page, by how it begins, else by its type."""
    begin = response.content[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    return begin == b"<" or (begin not in {b"{", b"["} and "html" in response.headers.get("content-type", "").lower())


def quoted(value: object, secrets: Sequence[str] = ()) -> str:
    """A service's own words, fit for a sentence of ours: short, without a final stop, secrets taken out."""
    text = line(value, 5000)
    for secret in secrets:
        text = text.replace(secret, "***") if len(secret) > 3 else text
    return line(text, 200).rstrip(" .")


def error_words(response: httpx.Response, secrets: Sequence[str] = ()) -> str:
    """What an error body says, in any of the usual envelopes, as ` ("…")`; "" where it says nothing."""
    try:
        return said(mapping(json_of(response)), secrets)
    except ValueError:
        return ""


def said(body: Mapping[str, object], secrets: Sequence[str] = ()) -> str:
    """`error_words` of a body that was read."""
    for place in (body.get("detail"), body.get("error"), body):
        inner = mapping(place)
        for value in (place, inner.get("error"), inner.get("detail"), inner.get("message")):
            if text := quoted(value, secrets):
                return f' ("{text}")'
    return ""


def moved_to(asked: httpx.URL, response: httpx.Response) -> tuple[str, str]:
    """Where a redirect leads, without its query and credentials, and what that suggests doing about it."""
    target = redirect_target(asked, response)
    if target is None:
        return "an address that cannot be read", "check what stands in front of it"
    shown = line(str(target.copy_with(query=None, fragment=None, userinfo=b"")), 200)
    if _LOGIN.search(f"{target.host}{target.path}"):
        return shown, "that looks like a login: let requests with the key pass without it"
    return shown, "set that as the address if it is right"


def redirect_target(asked: httpx.URL, response: httpx.Response) -> httpx.URL | None:
    """The address that a redirect names, absolute; None where it cannot be read or is not http."""
    try:
        target = asked.join(response.headers.get("location", ""))
    except (httpx.InvalidURL, ValueError):
        return None
    return target if target.scheme in {"http", "https"} and target.host else None


def visible(secret: str, name: str) -> str:
    """The secret, blanks around it taken off. Raises Fault when no header can carry it."""
    secret = secret.strip()
    if secret and not _VISIBLE.fullmatch(secret):
        raise Fault("error", f"{name} holds characters that no header can carry", "copy it again")
    return secret


def configured(address: str, setting: str, *tails: str) -> tuple[str, Address]:
    """A service's address without final slashes and without one of these ends, and its parts. Raises Fault."""
    text = re.split(r"[?#]", line(address, 2048), maxsplit=1)[0].rstrip("/")
    text = next((text.removesuffix(tail).rstrip("/") for tail in tails if text.lower().endswith(tail)), text)
    try:
        parts = parse_address(text)
    except TabwrightError as error:
        why = f"{error.detail[:1].lower()}{error.detail[1:].rstrip('.')}"
        raise Fault("error", f"{setting} cannot be used ({why})", "correct it") from error
    return parts.url.rstrip("/"), parts


def is_open_http(address: Address) -> bool:
    """Whether what is sent there can be read on the way: plain http beyond this machine."""
    if address.scheme != "http" or is_localhost(address.host):
        return False
    try:
        return not ip_address(address.host).is_loopback
    except ValueError:
        return True
