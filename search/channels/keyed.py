"""What the APIs with a key have in common: the key, the address, and the statuses that mean the same everywhere."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import httpx

from fetch.http_dates import retry_after
from search.channels.exchange import (
    REDIRECTS,
    USER_AGENT,
    Fault,
    Meaning,
    configured,
    error_words,
    is_open_http,
    json_object,
    moved_to,
    reply,
    visible,
)
from search.engine import Send


def missing_key(service: str, variables: Sequence[str]) -> str:
    """The sentence that says which environment variable a service's key is read from."""
    return f"{service} needs a key: set {' or '.join(variables)}."


@dataclass(frozen=True, slots=True)
class Keyed:
    """An API. Sentences call it `service`, its key `variables` and its address `setting`.

    `meanings`: what its statuses mean where that is not the same everywhere; `pause`: how long it asks to wait by
    headers of its own. All methods raise Fault.
    """

    service: str
    setting: str
    variables: Sequence[str]
    key: str = field(repr=False)
    meanings: Mapping[int, Meaning] = field(default_factory=dict)
    pause: Callable[[httpx.Response], float | None] = lambda _: None

    def unlocked(self) -> str:
        """The key, when there is one that can be sent."""
        if not self.key.strip():
            raise Fault("error", missing_key(self.service, self.variables).rstrip("."))
        return visible(self.key, self._variable)

    def at(self, base: str, *tails: str) -> tuple[str, list[str]]:
        """The address without one of these ends, and warnings about it."""
        address, parts = configured(base, self.setting, *tails)
        plain = f"{self.setting} is plain http: the key can be read on the way; use https."
        return address, [plain] if is_open_http(parts) else []

    async def ask(self, request: httpx.Request, send: Send) -> Mapping[str, object]:
        """The JSON object of a successful answer."""
        return json_object(await self.answer(request, send), self.service, self.setting)

    async def answer(self, request: httpx.Request, send: Send) -> httpx.Response:
        """A successful answer."""
        request.headers.update({"User-Agent": USER_AGENT, "Accept-Encoding": "gzip, deflate"})
        response = await reply(request, send, self.service)
        if response.status_code in REDIRECTS:
            place, advice = moved_to(request.url, response)
            what = f"{self.service} answered with a redirect to {place} (HTTP {response.status_code})"
            raise Fault("error", what, f"check {self.setting}; {advice}")
        if not response.is_success:
            raise self._fault(response)
        return response

    @property
    def _variable(self) -> str:
        return " or ".join(self.variables)

    def _fault(self, response: httpx.Response) -> Fault:
        status = response.status_code
        meaning = self.meanings.get(status) or self._usual(status)
        what = f"{self.service} {meaning.what} (HTTP {status}){error_words(response, (self.key.strip(),))}"
        return Fault(meaning.state, what, meaning.advice, retry_after(response.headers) or self.pause(response))

    def _usual(self, status: int) -> Meaning:
        if status in {401, 403}:
            return Meaning("error", "refused the key", f"check {self._variable}")
        if status == 402:
            return Meaning("error", "wants to be paid", "check the account's billing")
        if status in {404, 405, 410}:
            return Meaning("error", "has nothing at that address", f"check {self.setting}")
        if status == 429:
            return Meaning("blocked", "limits how often it is asked", "wait, or take a larger plan")
        if status >= 500:
            return Meaning("error", "failed on its side", "try again later, or choose another adapter")
        return Meaning("error", "refused the request", "change the query or its options")
