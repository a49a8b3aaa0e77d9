"""Asking an instance, following it only where its own search is, and what its errors mean."""

from collections.abc import Mapping
from typing import Final

import httpx

from fetch.http_dates import retry_after
from search.channels.exchange import (
    REDIRECTS,
    Fault,
    Meaning,
    error_words,
    is_html,
    moved_to,
    redirect_target,
    reply,
)
from search.channels.searxng.config import Instance
from search.channels.searxng.page import Page
from search.engine import Send

MOST_REDIRECTS: Final = 3

_KEY: Final = "searxng_auth_key and searxng_auth_type"
_NOWHERE: Final = Meaning("error", "has no search at that address", "correct searxng_url; a sub-path belongs in it")
_DOWN: Final = Meaning("error", "is not up behind its proxy", "start it, or try again later")
_LIMITER: Final = "wait, or let this service pass its limiter (limiter.toml)"
_MEANINGS: Final[Mapping[int, Meaning]] = {
    401: Meaning("error", "refused the key", f"check {_KEY}"),
    403: Meaning("error", "refuses this service", f"check {_KEY}"),
    404: _NOWHERE,
    405: _NOWHERE,
    410: _NOWHERE,
    429: Meaning("blocked", "limits how often it is asked", _LIMITER),
    502: _DOWN,
    503: _DOWN,
    504: _DOWN,
}
_WITHOUT_KEY: Final[Mapping[int, Meaning]] = {
    401: Meaning("error", "wants authentication", f"set {_KEY}"),
    403: Meaning("error", "refuses this service", f"set {_KEY}, or let its address pass"),
}


async def ask(instance: Instance, parameters: dict[str, str], send: Send) -> httpx.Response:
    """The answer of the instance, whatever its status but a redirect. Raises Fault."""
    url, headers = httpx.URL(instance.search_url, params=parameters), instance.headers(parameters)
    for _ in range(MOST_REDIRECTS + 1):
        response = await reply(httpx.Request("GET", url, headers=headers), send, f"SearXNG at {instance.shown}")
        if response.status_code not in REDIRECTS:
            return response
        url = _followed(url, response, instance, parameters)
    raise Fault("error", f"SearXNG at {instance.shown} redirects in a circle", "check what stands in front of it")


def forbids_json(response: httpx.Response) -> bool:
    """Whether this is how SearXNG refuses a format that its `search.formats` lacks: 403 with its error page."""
    return response.status_code == 403 and is_html(response) and not Page(response).challenge


def check(response: httpx.Response, instance: Instance) -> None:
    """Raise Fault for every status but success."""
    if response.is_success:
        return
    status, who = response.status_code, f"SearXNG at {instance.shown}"
    if is_html(response) and (words := Page(response).challenge):
        what = f'{who} is behind a challenge ("{words}", HTTP {status})'
        raise Fault("blocked", what, "let this service pass without it", retry_after(response.headers))
    state, what, advice = _meaning(status, with_key=bool(instance.authorization))
    raise Fault(
        state,
        f"{who} {what} (HTTP {status}){error_words(response, instance.secrets)}",
        advice,
        retry_after(response.headers),
    )


def _followed(asked: httpx.URL, response: httpx.Response, instance: Instance, parameters: dict[str, str]) -> httpx.URL:
    """Where a redirect leads, if that is the search of the same instance. Credentials go nowhere else."""
    target = redirect_target(asked, response)
    if target is not None and _is_same(asked, target) and target.path.rstrip("/").endswith("/search"):
        return target if target.query else target.copy_with(params=parameters)
    place, advice = moved_to(asked, response)
    what = f"SearXNG at {instance.shown} answered with a redirect to {place} (HTTP {response.status_code})"
    if parameters["q"].lstrip().startswith("!!"):
        raise Fault("error", what, "take the !! out of the query, which sends it to another site")
    raise Fault("error", what, f"correct searxng_url; {advice}")


def _is_same(asked: httpx.URL, target: httpx.URL) -> bool:
    """Whether both are one origin, or the second is the first over TLS at its usual port."""
    if asked.host != target.host or target.userinfo:
        return False
    if asked.scheme == target.scheme:
        return asked.port == target.port
    return (asked.scheme, asked.port, target.port) == ("http", None, None)


def _meaning(status: int, *, with_key: bool) -> Meaning:
    if not with_key and status in _WITHOUT_KEY:
        return _WITHOUT_KEY[status]
    if status >= 500:
        return _MEANINGS.get(status, Meaning("error", "failed", "look into its log"))
    return _MEANINGS.get(status, Meaning("error", "refused the request", "change the query, or the setting it names"))
