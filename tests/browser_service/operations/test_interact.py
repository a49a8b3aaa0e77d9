"""Click, type, scroll and wait, in real pages."""

import pytest

from tests.conftest import Session
from tests.site import Site


async def test_click_waits_until_what_covers_the_button_is_gone(session: Session, site: Site) -> None:
    """A splash over the button for a while: the click lands once, on the button."""
    page = """<button id=go style="position:absolute;left:50px;top:50px" onclick="window.n=(window.n||0)+1">Go</button>
      <div id=splash style="position:fixed;inset:0;background:#eee" onclick="window.splash=1"></div>
      <script>setTimeout(() => splash.remove(), 700)</script>"""
    await session.do("open", url=site.page(page), wait_until="load")
    await session.do("click", selector="#go")
    assert await session.value("[window.n, window.splash]") == [1, None]


async def test_click_says_what_covers_the_element(session: Session, site: Site) -> None:
    """A button that stays covered is not actionable, and the answer names the cover."""
    page = """<button id=go>Go</button><div id=wall class=modal style="position:fixed;inset:0">Accept</div>"""
    await session.do("open", url=site.page(page))
    problem = await session.refused("element_not_actionable", "click", selector="#go", timeout_ms=500)
    assert "wall" in problem["detail"]
    assert problem["problem"] == "covered"


async def test_what_comes_under_the_pointer_is_not_clicked(session: Session, site: Site) -> None:
    """An overlay that a page puts there as the pointer comes near gets no event; the answer names it."""
    page = """<button id=go onclick="window.n=1" style="position:absolute;left:50px;top:50px">Go</button>
      <div id=trap style="position:fixed;inset:0;display:none" onclick="window.n=2" onmousedown="window.n=3"></div>
      <script>addEventListener('pointermove', () => { trap.style.display = 'block' })</script>"""
    await session.do("open", url=site.page(page))
    problem = await session.refused("element_not_actionable", "click", selector="#go", timeout_ms=700)
    assert "trap" in problem["detail"]
    assert await session.value("window.n") is None


async def test_a_click_lands_on_an_element_that_moves(session: Session, site: Site) -> None:
    """A button that a style animation, a script or a smooth scroll still moves is pressed where it is then."""
    page = """<style>@keyframes go { from { left: 0 } to { left: 400px } }</style><body style="height:5000px">
      <button id=go onclick="window.n=(window.n||0)+1"
        style="position:absolute;top:30px;animation:go 600ms linear forwards">Go</button>
      <script>onload = () => scrollTo({top: 20, behavior: 'smooth'})</script>"""
    await session.do("open", url=site.page(page), wait_until="load")
    await session.do("click", selector="#go")
    assert await session.value("window.n") == 1


async def test_clicks_and_typing_are_trusted_and_complete(session: Session, site: Site) -> None:
    """A page sees the events of a person's double click and of typing, in order, all trusted."""
    page = """<button id=go>Go</button><input id=f value=old>
      <script>window.seen = []; for (const kind of ['mousedown', 'mouseup', 'click', 'dblclick'])
        go.addEventListener(kind, (e) => seen.push(kind + e.detail + e.isTrusted));
        for (const kind of ['focus', 'beforeinput', 'input'])
        f.addEventListener(kind, (e) => seen.push(kind + e.isTrusted))</script>"""
    await session.do("open", url=site.page(page))
    await session.do("click", selector="#go", count=2)
    clicks = [f"{kind}{count}true" for count in (1, 2) for kind in ("mousedown", "mouseup", "click")]
    assert await session.value("window.seen") == [*clicks, "dblclick2true"]
    typed = await session.do("type", selector="#f", text="new")
    assert (await session.value("window.seen"))[7:] == ["focustrue", "beforeinputtrue", "inputtrue"]
    assert typed["value"] == "new"


@pytest.mark.parametrize(
    ("html", "problem"),
    [
        ("<button id=b disabled>Go</button>", "disabled"),
        ("<button id=b style='display:none'>Go</button>", "hidden"),
        ("<button id=b style='visibility:hidden'>Go</button>", "hidden"),
    ],
)
async def test_click_says_why_an_element_cannot_be_clicked(
    session: Session, site: Site, html: str, problem: str
) -> None:
    """Disabled and hidden elements are told apart."""
    await session.do("open", url=site.page(html))
    answer = await session.refused("element_not_actionable", "click", selector="#b", timeout_ms=300)
    assert answer["problem"] == problem


async def test_click_follows_a_link_and_reports_the_navigation(session: Session, site: Site) -> None:
    """The answer of the click already belongs to the new page."""
    goal = site.page("<h1>Arrived</h1>", title="Goal")
    start = site.page(f"<a href='{goal}'>go</a>", title="Start")
    await session.do("open", url=start)
    changes = (await session.do("click", selector="text=go"))["changes"]
    assert changes["navigated"] == {"from": start, "to": goal}
    assert changes["title"] == "Goal"
    assert "Arrived" in (await session.do("extract"))["content"]


async def test_a_click_that_opens_a_tab_reports_it(session: Session, site: Site) -> None:
    """The new tab is in `changes`, can be read at once, and is not the active one."""
    goal = site.page("<h1>Second</h1>")
    await session.do("open", url=site.page(f"<h1>First</h1><a target=_blank href='{goal}'>go</a>"))
    changes = (await session.do("click", selector="a"))["changes"]
    assert [tab["id"] for tab in changes["new_tabs"]] == ["t2"]
    assert "Second" in (await session.do("extract", tab="newest"))["content"]
    assert "First" in (await session.do("extract"))["content"]


async def test_dialogs_are_answered_and_reported(session: Session, site: Site) -> None:
    """alert is accepted and confirm dismissed by default; the click does not hang."""
    page = "<button onclick=\"alert('one'); window.answer = confirm('two')\">Go</button>"
    await session.do("open", url=site.page(page))
    changes = (await session.do("click", selector="button"))["changes"]
    assert [(each["kind"], each["message"], each["answer"]) for each in changes["dialogs"]] == [
        ("alert", "one", "accepted"),
        ("confirm", "two", "dismissed"),
    ]
    assert await session.value("window.answer") is False


async def test_a_click_that_downloads_reports_the_file(session: Session, site: Site) -> None:
    """The file's name is reported and the page stays."""
    file = site.route(
        lambda request: request.answer(
            b"x" * 1000, "application/octet-stream", Content_Disposition='attachment; filename="chart.bin"'
        )
    )
    await session.do("open", url=site.page(f"<h1>Shop</h1><a href='{file}'>get</a>"))
    changes = (await session.do("click", selector="a"))["changes"]
    assert [each["file_name"] for each in changes["downloads"]] == ["chart.bin"]
    assert "Shop" in (await session.do("extract"))["content"]


async def test_console_errors_after_a_click_are_reported(session: Session, site: Site) -> None:
    """What the handler logs as an error, and what it throws, is in `changes`."""
    page = "<button onclick=\"console.error('bad', 1); throw new Error('worse')\">Go</button>"
    await session.do("open", url=site.page(page))
    errors = (await session.do("click", selector="button"))["changes"]["console_errors"]
    assert any("bad 1" in each for each in errors)
    assert any("worse" in each for each in errors)


async def test_an_ambiguous_selector_takes_the_first_visible_one_and_warns(session: Session, site: Site) -> None:
    """Hidden matches are passed over."""
    page = (
        "<p hidden><button onclick='x=1'>A</button></p><button onclick='x=2'>A</button><button onclick='x=3'>A</button>"
    )
    await session.do("open", url=site.page(page))
    answer = await session.do("click", selector="button")
    assert "3 elements" in answer["warnings"][0]
    assert await session.value("x") == 2


async def test_strict_refuses_an_ambiguous_selector(session: Session, site: Site) -> None:
    """With `strict`, several matches are an error."""
    await session.do("open", url=site.page("<button>A</button><button>B</button>"))
    await session.refused("ambiguous_selector", "click", selector="button", strict=True)


async def test_a_missing_element_fails_at_once_unless_waited_for(session: Session, site: Site) -> None:
    """`wait` waits for it to appear."""
    page = "<script>setTimeout(() => document.body.innerHTML = '<button onclick=\"x=1\">Late</button>', 2000)</script>"
    await session.do("open", url=site.page(page), wait_until="load")
    await session.refused("element_not_found", "click", selector="button")
    await session.do("click", selector="button", wait=True)
    assert await session.value("x") == 1


@pytest.mark.parametrize("selector", ["div[", "role=", "xpath=//[", ">>"])
async def test_a_selector_that_does_not_parse_is_an_invalid_request(
    session: Session, site: Site, selector: str
) -> None:
    """The answer says so, and gives examples."""
    await session.do("open", url=site.page("<p>x</p>"))
    assert "selector" in (await session.refused("invalid_request", "click", selector=selector))["detail"]


async def test_click_reaches_into_frames(session: Session, site: Site) -> None:
    """`frame` names the iframe, nested ones separated by ' >> '."""
    inner = site.page("<button onclick='parent.parent.postMessage(7, \"*\")'>Go</button>")
    middle = site.page(f"<iframe id=inner src='{inner}'></iframe>")
    page = f"<script>onmessage = (e) => window.got = e.data</script><iframe id=middle src='{middle}'></iframe>"
    await session.do("open", url=site.page(page))
    await session.do("click", selector="button", frame="#middle >> #inner")
    assert await session.value("window.got") == 7
    await session.refused("element_not_found", "click", selector="button", frame="#nowhere")


async def test_click_at_a_point(session: Session, site: Site) -> None:
    """`x` and `y` count from the corner of the viewport; events are trusted."""
    page = "<script>onclick = (e) => window.at = [e.clientX, e.clientY, e.isTrusted]</script>"
    await session.do("open", url=site.page(page))
    await session.do("click", x=120, y=80)
    assert await session.value("window.at") == [120, 80, True]


async def test_a_hidden_checkbox_is_clicked_by_its_label(session: Session, site: Site) -> None:
    """A styled control that is itself invisible is used as a person would."""
    page = """<style>input{position:absolute;opacity:0;width:0;height:0}</style>
      <input type=radio id=r><label for=r>Choose</label>"""
    await session.do("open", url=site.page(page))
    await session.do("click", selector="#r")
    assert await session.value("document.querySelector('#r').checked") is True


@pytest.mark.parametrize(
    ("html", "text", "value"),
    [
        ("<input id=f value=old>", "new", "new"),
        ("<textarea id=f>old</textarea>", "a\nb", "a\nb"),
        ("<div id=f contenteditable>old</div>", "汛期 🎏", "汛期 🎏"),
        ("<select id=f><option value=a>Red<option value=b>Blue</select>", "Blue", "b"),
        ("<input id=f type=date>", "2026-02-28", "2026-02-28"),
        ("<input id=f type=time>", "13:45", "13:45"),
        ("<input id=f type=range>", "70", "70"),
        ("<input id=f type=color>", "#12ab34", "#12ab34"),
        ("<input id=f>", "👩‍👩‍👧‍👦 שלום é 𠮷野家", "👩‍👩‍👧‍👦 שלום é 𠮷野家"),
    ],
)
async def test_type_fills_whatever_takes_a_value(
    session: Session, site: Site, html: str, text: str, value: str
) -> None:
    """Fields, editors, selects and pickers hold the value afterwards, and the answer tells it."""
    await session.do("open", url=site.page(html))
    assert (await session.do("type", selector="#f", text=text))["value"] == value


async def test_type_appends_without_clear(session: Session, site: Site) -> None:
    """`clear: false` leaves what is there."""
    await session.do("open", url=site.page("<input id=f value=ab>"))
    assert (await session.do("type", selector="#f", text="cd", clear=False))["value"] == "abcd"


async def test_type_slowly_sends_keys(session: Session, site: Site) -> None:
    """A field that listens to keys gets every one of them."""
    page = "<input id=f><script>keys = []; f.onkeydown = (e) => keys.push(e.key)</script>"
    await session.do("open", url=site.page(page))
    await session.do("type", selector="#f", text="abc", slowly=True)
    assert await session.value("keys.slice(-3).join('')") == "abc"


@pytest.mark.parametrize(
    "form",
    [
        "<form action=/found><input id=f name=q></form>",
        "<form action=/found><input id=f name=q><input name=x><button>Go</button></form>",
        "<form action=/found><textarea id=f name=q></textarea><button>Go</button></form>",
    ],
)
async def test_submit_submits_the_form(session: Session, site: Site, form: str) -> None:
    """By Enter where that does it, else as the button would; the answer belongs to the next page."""
    site.route(lambda request: request.answer("<h1>Found</h1>"), "/found")
    await session.do("open", url=site.page(form))
    changes = (await session.do("type", selector="#f", text="灯塔", submit=True))["changes"]
    assert "/found?q=%E7%81%AF%E5%A1%94" in changes["navigated"]["to"]


async def test_type_refuses_what_takes_no_text(session: Session, site: Site) -> None:
    """A checkbox, a wrong option and a wrong date are told as such."""
    page = "<input type=checkbox id=c><select id=s><option>Red</select><input type=date id=d>"
    await session.do("open", url=site.page(page))
    await session.refused("invalid_request", "type", selector="#c", text="x")
    assert "Red" in (await session.refused("invalid_request", "type", selector="#s", text="Green"))["hint"]
    assert "2026-02-28" in (await session.refused("invalid_request", "type", selector="#d", text="tomorrow"))["hint"]


async def test_scroll_tells_where_the_page_stands(session: Session, site: Site) -> None:
    """Down 500, to the bottom, back up to the top."""
    await session.do("open", url=site.page("<div style='height:3000px'></div>"))
    assert (await session.do("scroll"))["y"] == 500
    end = await session.do("scroll", direction="bottom")
    assert end["at_end"] is True
    assert end["y"] == end["max_y"]
    assert (await session.do("scroll", direction="top"))["y"] == 0


async def test_scroll_until_nothing_more_loads(session: Session, site: Site) -> None:
    """A list that grows three times when its end is reached is read to its end."""
    page = """<div id=l style="height:2000px"></div><script>let n = 0; onscroll = () => {
      if (n < 3 && scrollY + innerHeight > document.body.scrollHeight - 50) { n++; setTimeout(() => {
        l.insertAdjacentHTML('beforeend', '<p>part ' + n + '</p>'); l.style.height = 2000 + n * 1500 + 'px' }, 150) } }
      </script>"""
    await session.do("open", url=site.page(page))
    await session.do("scroll", direction="bottom", until="no_growth")
    assert "part 3" in (await session.do("extract"))["content"]


async def test_scroll_inside_a_container_and_to_an_element(session: Session, site: Site) -> None:
    """`container` scrolls a box, `selector` brings an element into the view."""
    page = """<div id=box style="height:200px;overflow:auto"><div style="height:1000px"></div></div>
      <div style="height:3000px"></div><p id=end>End</p>"""
    await session.do("open", url=site.page(page))
    assert (await session.do("scroll", container="#box", direction="bottom"))["y"] == 800
    await session.do("scroll", selector="#end")
    assert await session.value("document.querySelector('#end').getBoundingClientRect().top < innerHeight") is True


async def test_wait_for_each_kind_of_condition(session: Session, site: Site) -> None:
    """An element's visibility, its absence, a text, an address, a script and a time."""
    page = """<p id=a style="display:none">Ready now</p><p id=b>Wait</p><script>setTimeout(() => {
      a.style.display = 'block'; b.remove(); history.pushState(0, '', '/moved'); window.ok = 1 }, 400)</script>"""
    await session.do("open", url=site.page(page), wait_until="commit")
    assert (await session.do("wait", selector="#a"))["matched"] == "selector"
    assert (await session.do("wait", selector="#b", state="detached"))["matched"] == "selector"
    assert (await session.do("wait", text="ready NOW"))["matched"] == "text"
    assert (await session.do("wait", url="/moved"))["matched"] == "url"
    assert (await session.do("wait", js="window.ok"))["matched"] == "js"
    assert (await session.do("wait", time_ms=50))["matched"] == "time"


async def test_wait_says_how_things_stand_when_time_is_up(session: Session, site: Site) -> None:
    """The element is there but hidden: the answer says so."""
    await session.do("open", url=site.page("<p id=a hidden>x</p>"))
    problem = await session.refused("timeout", "wait", selector="#a", timeout_ms=200)
    assert "1 elements match, 0 of them visible" in problem["detail"]


async def test_actions_before_any_open_say_no_page(session: Session) -> None:
    """There is nothing to act on yet."""
    for action, body in (("click", {"selector": "a"}), ("extract", {}), ("screenshot", {}), ("evaluate", {"js": "1"})):
        await session.refused("no_page", action, **body)


@pytest.mark.parametrize(
    ("action", "body", "word"),
    [
        ("click", {}, "target"),
        ("click", {"selector": "a", "x": 1, "y": 1}, "target"),
        ("click", {"x": 1}, "both"),
        ("click", {"selector": "a", "nonsense": 1}, "nonsense"),
        ("click", {"selector": "a", "button": "thumb"}, "button"),
        ("click", {"selector": "a", "timeout_ms": -5}, "timeout_ms"),
        ("click", {"selector": "a", "timeout_ms": 1e12}, "timeout_ms"),
        ("type", {"selector": "a"}, "text"),
        ("type", {"selector": "a", "text": 5}, "text"),
        ("wait", {"selector": "a", "text": "b"}, "one condition"),
        ("scroll", {"direction": "sideways"}, "direction"),
        ("open", {"url": 5}, "url"),
        ("screenshot", {"full_page": True, "selector": "a"}, "at most one"),
        ("screenshot", {"quality": 80}, "quality"),
    ],
)
async def test_wrong_parameters_name_the_field(
    session: Session, action: str, body: dict[str, object], word: str
) -> None:
    """Unknown fields, wrong types and absurd numbers are refused with the field's name."""
    problem = await session.refused("invalid_request", action, **body)
    assert word.lower() in problem["detail"].lower()
