"""Results, citations and errors among the content blocks of a message."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from search.channels.exchange import Fault
from search.channels.values import TITLE, items, joined, line, mapping, moment, web_address
from search.engine import Answer, Found, Hit

NAME: Final = "anthropic"

_FAULTS: Final[Mapping[str, tuple[bool, str, str]]] = {
    "too_many_requests": (True, "limits its web search", "wait, or raise the rate limit of the key"),
    "unavailable": (False, "cannot search at the moment", "try again later"),
    "max_uses_exceeded": (False, "was allowed too few searches", "raise max_uses"),
    "query_too_long": (False, "finds the query too long", "shorten it"),
    "request_too_large": (False, "finds the request too large", "shorten the query"),
    "invalid_tool_input": (False, "asked its own search wrongly", "try again, or choose another model"),
}


@dataclass
class Reading:
    """What the turns of one answer held so far."""

    hits: dict[str, Hit] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    _cited: dict[str, list[str]] = field(default_factory=dict)
    _faults: list[Fault] = field(default_factory=list)
    _searched: bool = False
    _ended: str = ""

    def take(self, message: Mapping[str, object], content: Sequence[object]) -> bool:
        """Read one message. Whether its turn only paused and is to be continued."""
        for each in content:
            block = mapping(each)
            if block.get("type") == "web_search_tool_result":
                self._results(block.get("content"))
            elif block.get("type") == "text":
                self._citations(block.get("citations"))
        self._ended = line(message.get("stop_reason"), 60)
        return self._ended == "pause_turn" and bool(content)

    def found(self, count: int) -> Found:
        """All of it as one answer. Raises Fault when nothing was found and that has a reason."""
        if not self.hits:
            self._explain()
        hits = [replace(hit, snippet=joined(self._cited.get(url, ()))) for url, hit in self.hits.items()]
        self.warnings += [fault.sentence for fault in self._faults]
        answer = Answer(NAME, "ok" if hits else "empty", tuple(hits[: max(1, count)]))
        return Found((answer,), tuple(dict.fromkeys(self.warnings)))

    def _results(self, content: object) -> None:
        """A list of results, or one error, alone or in a list."""
        self._searched = True
        for each in items(content) if isinstance(content, list) else [content]:
            block = mapping(each)
            url = web_address(block.get("url"))
            if block.get("type") == "web_search_tool_result_error":
                self._faults.append(_fault(line(block.get("error_code"), 60)))
            elif url and url not in self.hits:
                title = line(block.get("title"), TITLE) or url
                self.hits[url] = Hit(title, url, published=moment(block.get("page_age")))

    def _citations(self, citations: object) -> None:
        for each in items(citations):
            citation = mapping(each)
            if url := web_address(citation.get("url")):
                self._cited.setdefault(url, []).append(line(citation.get("cited_text")))

    def _explain(self) -> None:
        if self._faults:
            raise self._faults[0]
        if self._ended == "refusal":
            raise Fault("error", "The model refused the query", "change the query, or choose another adapter")
        if self._ended in {"max_tokens", "model_context_window_exceeded"} and not self._searched:
            raise Fault("error", "The model ran out of room before it searched", "choose another model")
        if not self._searched:
            advice = "check that the model has web search, or choose another one"
            raise Fault("error", "The model answered without searching", advice)


def _fault(code: str) -> Fault:
    limited, what, advice = _FAULTS.get(code, (False, f'failed in its search ("{code}")', "try again later"))
    return Fault("blocked" if limited else "error", f"Anthropic {what}", advice)
