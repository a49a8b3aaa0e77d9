"""Opening addresses: what arrives, what does not, and what must never be visited."""

import socket
import threading
from collections.abc import Iterator

import pytest

from tests.conftest import Api, Session
from tests.site import Request, Site


async def test_open_tells_where_the_tab_is(session: Session, site: Site) -> None:
    """Address after redirects, title, status, type, and how it settled."""
    goal = site.page("<h1>Goal</h1>", title="The goal")
    start = site.route(lambda request: request.answer(status=302, Location=goal))
    opened = await session.do("open", url=start)
    assert (opened["url"], opened["title"], opened["status"]) == (goal, "The goal", 200)
    assert opened["redirects"] == [{"url": start, "status": 302}]
    assert opened["content_type"] == "text/html; charset=utf-8"
    assert opened["settled"] == "quiet"


@pytest.mark.parametrize("status", [404, 403, 500, 503])
async def test_open_succeeds_for_every_status(session: Session, site: Site, status: int) -> None:
    """An error page is a page, with its real status."""
    opened = await session.do("open", url=site.page("<h1>Sorry</h1>", status=status))
    assert opened["status"] == status
    assert "Sorry" in (await session.do("extract"))["content"]


WALL = (
    "<title>Just a moment...</title><div id='challenge-error-text'>Enable JavaScript and cookies to continue</div>"
    "<script src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1'></script>"
)


async def test_a_wall_is_told_from_a_page(session: Session, site: Site) -> None:
    """By what the page shows, whatever its status; with what that rests on."""
    words = "The ferry leaves the old harbour at seven and reaches the island before noon. " * 12
    page = await session.do("open", url=site.page(f"<h1>Ferry</h1><p>{words}</p>"))
    assert (page["outcome"], page["evidence"]) == ("ok", [])
    wall = await session.do("open", url=site.page(WALL, status=403))
    assert wall["outcome"] in {"challenge", "blocked"}
    assert wall["evidence"]
    missing = await session.do("open", url=site.page("<h1>Not found</h1><p>No such page.</p>", status=404))
    assert missing["outcome"] == "not_found"


def empty(status: int, **headers: str) -> object:
    """A handler that answers with a status and no body."""
    return lambda request: request.answer(b"", status=status, **headers)


@pytest.mark.parametrize(
    ("status", "headers", "outcome"),
    [(204, {}, "empty"), (401, {"WWW_Authenticate": 'Basic realm="x"'}, "login_wall"), (404, {}, "not_found")],
)
async def test_answers_without_a_document_have_their_real_status(
    session: Session, site: Site, status: int, headers: dict[str, str], outcome: str
) -> None:
    """Chromium calls these navigations failed; the tab stays where it was."""
    await session.do("open", url=site.page("<h1>Before</h1>"))
    answer = await session.do("open", url=site.route(lambda request: request.answer(b"", status=status, **headers)))
    assert (answer["status"], answer["outcome"]) == (status, outcome)


async def test_an_attachment_is_a_download_and_no_error(session: Session, site: Site) -> None:
    """The file is reported with its name and declared size; the page before stays."""
    await session.do("open", url=site.page("<h1>Before</h1>"))
    file = site.route(
        lambda request: request.answer(
            b"x" * 5000, "application/zip", Content_Disposition="attachment; filename*=UTF-8''%E6%B1%9B.zip"
        )
    )
    answer = await session.do("open", url=file)
    assert answer["status"] == 200
    assert [(each["file_name"], each["size"]) for each in answer["changes"]["downloads"]] == [("汛.zip", 5000)]
    assert "Before" in (await session.do("extract"))["content"]


async def test_an_alert_while_loading_does_not_block(session: Session, site: Site) -> None:
    """It is answered and reported."""
    answer = await session.do("open", url=site.page("<script>alert('tide')</script><p>Below</p>"))
    assert answer["changes"]["dialogs"][0]["message"] == "tide"
    assert "Below" in (await session.do("extract"))["content"]


async def test_beforeunload_does_not_block_the_next_open(session: Session, site: Site) -> None:
    """The question whether to leave is accepted."""
    page = "<input id=f><script>onbeforeunload = (e) => { e.preventDefault(); return 'stay' }</script>"
    await session.do("open", url=site.page(page))
    await session.do("type", selector="#f", text="draft")
    answer = await session.do("open", url=site.page("<h1>Next</h1>"))
    assert [each["kind"] for each in answer["changes"]["dialogs"]] == ["beforeunload"]
    assert "Next" in (await session.do("extract"))["content"]


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("example.com", "invalid_request"),
        ("http://", "invalid_request"),
        ("https://exa mple.com/", "invalid_request"),
        ("http://127.0.0.1:99999/", "invalid_request"),
        ("http:\\\\127.0.0.1\\", "invalid_request"),
        ("file:///etc/passwd", "address_forbidden"),
        ("view-source:http://example.com/", "address_forbidden"),
        ("chrome://version", "address_forbidden"),
        ("javascript:alert(1)", "address_forbidden"),
        ("data:text/html,x", "address_forbidden"),
        ("http://user:pw@example.com/", "address_forbidden"),
        ("http://127.1/", "address_forbidden"),
        ("http://0x7f000001/", "address_forbidden"),
        ("http://１２７.０.０.１/", "address_forbidden"),
        ("http://[::ffff:127.0.0.1]/", "address_forbidden"),
        ("http://169.254.169.254/latest/meta-data/", "address_forbidden"),
        ("http://10.0.0.1/", "address_forbidden"),
        ("http://localhost:1/", "address_forbidden"),
    ],
)
async def test_forbidden_and_malformed_addresses_are_refused(session: Session, url: str, code: str) -> None:
    """Before any packet leaves."""
    assert (await session.refused(code, "open", url=url))["detail"]


async def test_a_redirect_to_a_private_address_is_refused(session: Session, site: Site) -> None:
    """The proxy's record decides; no page of the proxy's own is shown as the site's."""
    secret = f"http://127.0.0.2:{site.port}/secret"
    away = site.route(lambda request: request.answer(status=302, Location=secret))
    problem = await session.refused("address_forbidden", "open", url=away)
    assert problem["final_url"] == secret
    await session.refused("no_page", "extract")


async def test_a_script_that_leads_to_a_private_address_is_told_by_click(session: Session, site: Site) -> None:
    """`changes` says that the navigation was refused."""
    await session.do("open", url=site.page(f"<a href='http://127.0.0.2:{site.port}/x'>go</a>"))
    changes = (await session.do("click", selector="a"))["changes"]
    assert changes["navigation_error"]["code"] == "address_forbidden"


@pytest.fixture
def cut() -> Iterator[int]:
    """A port that accepts connections and closes them without an answer."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            while True:
                try:
                    listening.accept()[0].close()
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


async def test_failed_navigations_say_why(api: Api, session: Session, site: Site) -> None:
    """A name that does not resolve and a redirect loop are told apart, and Chromium's error page is never content."""
    loop = site.route(lambda request: request.answer(status=302, Location=request.path))
    assert "loop" in (await session.refused("navigation_failed", "open", url=loop))["detail"]
    unknown = await session.refused("navigation_failed", "open", url="http://no-such-host.invalid/")
    assert "DNS" in unknown["detail"]
    await session.refused("no_page", "extract")


async def test_a_server_that_never_answers_times_out(session: Session, site: Site) -> None:
    """The limit holds, and the session is usable at once."""
    await session.refused("timeout", "open", url=site.route(Request.hang), timeout_ms=700)
    await session.do("open", url=site.page("<h1>Next</h1>"))
    assert "Next" in (await session.do("extract"))["content"]


@pytest.mark.parametrize("before", [False, True], ids=["empty tab", "page open"])
async def test_a_server_that_pauses_after_its_headers_is_waited_for(
    session: Session, site: Site, *, before: bool
) -> None:
    """It is asked once, and the tab and its history stay: it is not the page before that holds anything back."""

    def pause(request: Request) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "4")
        request.end_headers()
        request.wfile.flush()
        request.server.site.closing.wait(4.5)
        request.wfile.write(b"late")

    if before:
        await session.do("open", url=site.page("<h1>Before</h1>"))
    url = site.route(pause)
    answer = await session.do("open", url=url, timeout_ms=20_000)
    assert answer["status"] == 200
    assert not any("replaced" in each for each in answer["warnings"])
    assert site.hits[url.removeprefix(site.base)] == 1
    assert "late" in (await session.do("extract"))["content"]


async def test_a_server_that_says_nothing_is_asked_once(session: Session, site: Site) -> None:
    """A tab with a page open waits for it until the limit."""
    await session.do("open", url=site.page("<h1>Before</h1>"))
    url = site.route(Request.hang)
    await session.refused("timeout", "open", url=url, timeout_ms=5000)
    assert site.hits[url.removeprefix(site.base)] == 1


async def test_a_page_that_never_finishes_is_partial(session: Session, site: Site) -> None:
    """The text before a cut is read, with a warning."""

    def half(request: Request) -> None:
        request.send_response(200)
        request.send_header("Content-Type", "text/html")
        request.send_header("Content-Length", "100000")
        request.end_headers()
        request.wfile.write(b"<title>Half</title><h1>First half</h1>" + b"<p>text</p>" * 200)
        request.wfile.flush()
        request.close_connection = True

    answer = await session.do("open", url=site.route(half))
    assert answer["partial"] is True
    assert answer["warnings"]
    assert "First half" in (await session.do("extract"))["content"]


async def test_wait_selector_waits_until_it_is_visible(session: Session, site: Site) -> None:
    """A late element is waited for; a missing one times out and the page stays open."""
    page = (
        "<script>setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<p id=late>Late</p>'), 1500)</script>"
    )
    await session.do("open", url=site.page(page), wait_selector="#late", wait_until="load")
    assert "Late" in (await session.do("extract"))["content"]


async def test_new_tab_and_fresh(session: Session, site: Site) -> None:
    """`new_tab` becomes the active one; `fresh` drops the history and keeps the cookies."""
    first = site.page("<h1>First</h1>")
    await session.do("open", url=first)
    await session.do("evaluate", js="document.cookie = 'k=v'")
    await session.do("open", url=site.page("<h1>Second</h1>"), new_tab=True)
    await session.do("open", url=site.page("<h1>Second, page two</h1>"))
    assert "Second" in (await session.do("extract"))["content"]
    await session.do("open", url=first, fresh=True)
    assert await session.value("[history.length, document.cookie]") == [2, "k=v"]
    about = (await session.http.get(session.path)).json()
    assert [(tab["id"], tab["active"]) for tab in about["tabs"]] == [("t1", False), ("t2", True)]


async def test_a_redirecting_script_is_followed(session: Session, site: Site) -> None:
    """The result is that of the page where the tab came to rest."""
    goal = site.page("<h1>Final stop</h1>")
    answer = await session.do("open", url=site.page(f"<script>location = '{goal}'</script>"))
    assert answer["url"] == goal


async def test_a_closed_tab_is_told(session: Session, site: Site) -> None:
    """Acting in a tab that is gone names the tabs that are there."""
    await session.do("open", url=site.page("<p>x</p>"))
    problem = await session.refused("invalid_request", "extract", tab="t9")
    assert "t1" in problem["detail"]
