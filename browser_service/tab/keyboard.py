"""Typing into whatever takes text: fields, editors, selects, dates; with events that scripts of the page trust."""

import asyncio
import contextlib

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Locator, Page
from playwright.async_api import TimeoutError as PlaywrightTimeout

from browser_service.errors import ElementNotActionable, InvalidRequest, TimedOut
from browser_service.tab.locate import Found, why_not
from browser_service.tab.world import TITLE, Call, WorldGone, gone_with_its_document

KEY_PAUSE_MS = 15
_TO_THE_END = """(e) => {
  e.focus();
  if (e.isContentEditable) { const s = getSelection(); s.selectAllChildren(e); s.collapseToEnd(); }
  else if (e.setSelectionRange) { try { e.setSelectionRange(e.value.length, e.value.length); } catch { } }
}"""
_VALUE = "(e) => e.isContentEditable ? e.innerText : 'value' in e ? e.value : e.textContent"
_FOCUSED_VALUE = """(longest) => {
  let e = document.activeElement;
  while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
  const value = e?.isContentEditable ? e.innerText : e && e !== document.body && 'value' in e ? e.value : null;
  return [value, document.title.slice(0, longest)];
}"""
_TAKES_KEYS = """(e) => {
  const focused = document.activeElement;
  if (!focused || focused === document.body) return false;
  return e.contains(focused) || focused.isContentEditable || 'value' in focused;
}"""
_SUBMIT = """(e) => {
  const form = e.form || e.closest("form");
  const button = [...form.elements].find((b) => (b.type === "submit" || b.type === "image") && !b.disabled);
  form.requestSubmit(button);
}"""


async def type_text(found: Found, selector: str, text: str, *, clear: bool, slowly: bool, timeout_ms: float) -> None:
    """Put `text` into the element. Raises ElementNotActionable or InvalidRequest, saying why, when it cannot be."""
    try:
        match found.kind:
            case "select":
                await _choose(found, text, timeout_ms)
            case "value":
                await _set(found, text, timeout_ms)
            case "text" | "editable" if found.ready is not None:
                await _replace_selected(found.locator.page, text, timeout_ms)
            case "text" | "editable":
                await _write(found.locator, text, clear=clear, slowly=slowly, timeout_ms=timeout_ms)
            case "check" | "file" | "button" | "submit" | "reset" | "image":
                raise InvalidRequest(
                    f"{selector!r} is a {found.facts['type']} input: it takes no text.", hint="Click it."
                )
            case _:
                await _type_into_focus(found, text, clear=clear, timeout_ms=timeout_ms)
    except PlaywrightTimeout:
        raise await why_not(found.locator, selector) from None


async def value_of(found: Found, call: Call | None, timeout_ms: float) -> tuple[str | None, str | None]:
    """What the field holds now, None where it is gone; and the document's title, None where it was not asked.

    With `call`, the focused element of that document is read, which is five times faster than finding it again.
    """
    title = None
    try:
        if call is not None and found.kind != "select":
            value, title = await call(_FOCUSED_VALUE, TITLE, timeout_s=timeout_ms / 1000)
            if value is not None:
                return str(value), title
        return str(await found.locator.evaluate(_VALUE, timeout=timeout_ms)), title
    except (PlaywrightError, WorldGone, TimedOut):
        return None, None


async def submit(found: Found, page: Page, timeout_ms: float) -> None:
    """Submit the form of the field: by Enter where Enter does that, else as its button would; without a form, Enter."""
    if found.facts["form"] and not found.facts["implicit"]:
        with contextlib.suppress(WorldGone), gone_with_its_document():  # it was submitted, and the next page is here
            await found.locator.evaluate(_SUBMIT, timeout=timeout_ms)
    else:
        await page.keyboard.press("Enter")


async def _replace_selected(page: Page, text: str, timeout_ms: float) -> None:
    """The cursor is in the element and all of it is selected."""
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            await (page.keyboard.insert_text(text) if text else page.keyboard.press("Delete"))
    except TimeoutError:
        raise TimedOut("The page did not answer the input in time.", hint="Raise timeout_ms.") from None


async def _write(locator: Locator, text: str, *, clear: bool, slowly: bool, timeout_ms: float) -> None:
    if clear and not slowly:
        await locator.fill(text, timeout=timeout_ms)
        return
    if clear:
        await locator.fill("", timeout=timeout_ms)
    else:
        await locator.click(timeout=timeout_ms, no_wait_after=True)
        await locator.evaluate(_TO_THE_END, timeout=timeout_ms)
    if slowly:
        try:
            await locator.press_sequentially(text, delay=KEY_PAUSE_MS, timeout=timeout_ms)
        except PlaywrightTimeout:
            raise TimedOut(
                f"Typing {len(text)} characters key by key takes about {len(text) * KEY_PAUSE_MS / 1000:.0f} s.",
                hint="Raise timeout_ms, or leave out slowly.",
            ) from None
    else:
        await locator.page.keyboard.insert_text(text)


async def _type_into_focus(found: Found, text: str, *, clear: bool, timeout_ms: float) -> None:
    """An element of the page's own making (a widget that draws its text itself): click it and send keys."""
    await found.locator.click(timeout=timeout_ms, no_wait_after=True)
    with gone_with_its_document():
        takes_keys = await found.locator.evaluate(_TAKES_KEYS, timeout=timeout_ms)
    if not takes_keys:
        raise ElementNotActionable(
            f"{found.facts.get('element', 'The element')} is not a field and takes no focus.",
            hint="Name the input, textarea, select or editable element itself.",
        )
    if clear:
        await found.locator.page.keyboard.press("ControlOrMeta+a")
    await found.locator.page.keyboard.type(text, delay=KEY_PAUSE_MS)


async def _choose(found: Found, text: str, timeout_ms: float) -> None:
    options = found.facts["options"]
    wanted = text.strip()
    by_label = [label for label, _ in options if label == wanted]
    by_value = [value for _, value in options if value == wanted]
    if by_label:
        await found.locator.select_option(label=wanted, timeout=timeout_ms)
    elif by_value:
        await found.locator.select_option(value=wanted, timeout=timeout_ms)
    else:
        raise InvalidRequest(
            f"The select has no option {wanted!r}.",
            hint="Its options: " + ", ".join(label or value for label, value in options[:30]),
        )


async def _set(found: Found, text: str, timeout_ms: float) -> None:
    wanted = text.strip()
    try:
        await found.locator.fill(wanted, timeout=timeout_ms)
        taken = (await found.locator.input_value(timeout=timeout_ms)).lower() == wanted.lower()
    except PlaywrightError as fault:
        if "Malformed value" not in str(fault):
            raise
        taken = False
    if not taken:
        kind = found.facts["type"]
        raise InvalidRequest(f"{text!r} is not a value for this input of type {kind}.", hint=_EXAMPLES[kind])


_EXAMPLES = {
    "date": "Write 2026-02-28.",
    "time": "Write 13:45.",
    "datetime-local": "Write 2026-02-28T13:45.",
    "month": "Write 2026-02.",
    "week": "Write 2026-W09.",
    "range": "Write a number within its min and max, by its step.",
    "color": "Write #12ab34.",
}
