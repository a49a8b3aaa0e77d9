"""Reading live pages, on real Chromium."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, async_playwright

from browser_service import finder
from browser_service.errors import ElementNotFound, InvalidRequest, TimedOut
from browser_service.tab import read as reading
from browser_service.tab.read import Format, Link, Reading, read, read_element
from browser_service.tab.world import World
from tests.site import Site


@dataclass
class Reader:
    """A tab of the light browser, and a way to read what it shows."""

    page: Page
    world: World
    site: Site

    async def see(
        self,
        html: str,
        form: Format = "text",
        *,
        selector: str | None = None,
        main_content: bool = False,
    ) -> Reading:
        """Open a page with this body and read it."""
        await self.page.goto(self.site.page(html))
        return await read(self.world, selector=selector, format=form, main_content=main_content, timeout_s=20)


@pytest.fixture(scope="module")
async def reader(site: Site) -> AsyncIterator[Reader]:
    """One tab for all tests here; each opens a page of its own."""
    async with async_playwright() as playwright:
        path = finder.find("light", None).executable
        browser = await playwright.chromium.launch(executable_path=path, chromium_sandbox=False)
        page = await browser.new_page()
        world = World(await page.context.new_cdp_session(page))
        await world.arm("")
        yield Reader(page, world, site)
        await browser.close()


TEXTS = {
    "blocks end lines, paragraphs stand apart": ("<h1>H</h1><p>1</p><div>a</div><div>b</div>", "H\n\n1\n\na\nb"),
    "white space is folded": ("<p>  a \n\t b&nbsp; c  </p>", "a b c"),
    "white space is kept in pre": ("<pre>  a\n\n    b\n</pre>x", "  a\n\n    b\n\nx"),
    "and where the style keeps it": ("<div style='white-space:pre-wrap'>a  b\nc</div>", "a  b\nc"),
    "pre-line keeps line ends alone": ("<div style='white-space:pre-line'>a   b\nc</div>", "a b\nc"),
    "br ends a line, two of them a paragraph": ("a<br>b<br><br>c<br><div>d</div>", "a\nb\n\nc\nd"),
    "cells are separated by tabs": ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", "a\tb\n1\t2"),
    "spans keep columns": ("<table><tr><th rowspan=2>a<th colspan=2>b<th>c<tr><td>1<td><td>3", "a\tb\t\tc\n\t1\t\t3"),
    "blocks in a cell stay on its line": ("<table><tr><th>k<td><p>1</p><p>2<br>3</p><ul><li>x</ul>", "k\t1 2 3 x"),
    "a table for layout has no cells": ("<table role=none><tr><td><p>a</p><td><p>b</p></table>", "a\n\nb"),
    "inline elements do not part words": ("un<b>believ</b>able H<sub>2</sub>O", "unbelievable H2O"),
    "margins do": ("<span>new</span><span style='margin-left:8px'>hot</span>", "new hot"),
    "so do images and fields": ("a<img alt=x>b<input value=d><select><option>e<option selected>f</select>", "a b d f"),
    "a drop cap belongs to its word": ("<p><span style='float:left'>T</span>he ferry</p>", "The ferry"),
    "flex items are blocks": ("<div style='display:flex'><span>a</span><span>b</span></div>", "a\nb"),
    "nested lists": ("<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "a\nb\nc"),
    "fields show their values, but for passwords": (
        "<textarea>one\ntwo</textarea><input type=submit><input type=password value=s3cret><input type=hidden value=h>",
        "one two Submit",
    ),
    "closed details are a click away": ("<details><summary>Q</summary><p>A</p></details>", "Q\n\nA"),
    "scripts, styles, noscript, templates and pictures are no text": (
        "a<script>1</script><style>p{}</style><noscript>n</noscript><template>t</template><svg><text>s</text></svg>b",
        "ab",
    ),
    "Chinese": ("<p>北京  <b>天气</b>，晴。</p><p>二</p>", "北京 天气，晴。\n\n二"),
    "nothing": ("", ""),
}  # fmt: skip


@pytest.mark.parametrize(("html", "expected"), TEXTS.values(), ids=TEXTS.keys())
async def test_text(reader: Reader, html: str, expected: str) -> None:
    """Text reads as the page looks."""
    assert (await reader.see(html)).content == expected


HIDDEN = {
    "class": "<style>.x{display:none}</style><p class=x>SECRET</p>",
    "attribute": "<p hidden>SECRET</p>",
    "visibility": "<p style='visibility:hidden'>SECRET</p>",
    "opacity": "<p style='opacity:0'>SECRET</p>",
    "zero size": "<div style='height:0;overflow:hidden'>SECRET</div>",
    "one pixel": "<span style='position:absolute;width:1px;height:1px;overflow:hidden'>SECRET</span>",
    "clip": "<div style='position:absolute;clip:rect(0,0,0,0)'>SECRET</div>",
    "clip-path": "<div style='clip-path:inset(50%)'>SECRET</div>",
    "off the left": "<div style='position:absolute;left:-9999px'>SECRET</div>",
    "fixed outside": "<div style='position:fixed;top:-200px'>SECRET</div>",
    "no font size": "<p style='font-size:0'>SECRET</p>",
    "indent": "<h1 style='text-indent:-9999px'>SECRET</h1>",
    "content-visibility": "<div style='content-visibility:hidden'>SECRET</div>",
    "closed dialog": "<dialog>SECRET</dialog>",
}


@pytest.mark.parametrize("html", HIDDEN.values(), ids=HIDDEN.keys())
@pytest.mark.parametrize("form", ["text", "html"])
async def test_hidden_text_is_left_out(reader: Reader, html: str, form: Format) -> None:
    """What no reader can see is not read, is counted, and is warned of."""
    seen = await reader.see(f"<p>before</p>{html}<p>after</p>", form)
    assert "SECRET" not in seen.content
    assert "before" in seen.content
    assert "after" in seen.content
    assert seen.hidden == 1
    assert any("Hidden elements" in each for each in seen.warnings)


KEPT = {
    "below the window": "<div style='margin-top:9000px'>KEPT</div>",
    "beside it": "<div style='position:absolute;left:5000px'>KEPT</div>",
    "scrolled past": (
        "<div style='position:absolute;top:10px'>KEPT</div><div style='height:9000px'></div>"
        "<script>scrollTo(0,5000)</script>"
    ),
    "in a box of its own": "<div style='height:40px;overflow:auto'><div style='height:900px'>x</div>KEPT</div>",
    "a slide that was moved aside": (
        "<div style='overflow:hidden;position:relative;height:50px'>x"
        "<div style='position:absolute;left:-3000px'>KEPT</div></div>"
    ),
    "visible in the invisible": "<div style='visibility:hidden'><p style='visibility:visible'>KEPT</p></div>",
    "about to fade in": "<p style='opacity:0;transition:opacity 1s'>KEPT</p>",
    "a class that says hidden": "<p class='field-label-hidden hidden'>KEPT</p>",
    "found by searching": "<div hidden=until-found>KEPT</div>",
    "display contents": "<div style='display:contents'>KEPT</div>",
}


@pytest.mark.parametrize("html", KEPT.values(), ids=KEPT.keys())
async def test_what_can_be_seen_is_kept(reader: Reader, html: str) -> None:
    """Text that scrolling, or waiting, brings into view belongs to the page."""
    assert "KEPT" in (await reader.see(html)).content


async def test_the_gaps_of_inline_blocks_are_not_hidden_text(reader: Reader) -> None:
    """A font size of zero around white space hides nothing."""
    seen = await reader.see("<div style='font-size:0'> <p style='font-size:16px'>shown</p> </div>")
    assert (seen.content, seen.hidden) == ("shown", 0)


async def test_invisible_characters_are_removed_and_counted(reader: Reader) -> None:
    """Zero-width characters, bidi controls and tags are removed; emoji and scripts that need joiners keep them."""
    family, persian = "👨‍👩‍👧", "می‌خواهم"
    seen = await reader.see(f"<p>a\u200bb\u202ec\u2066d\U000e0041\ufeffe {family} {persian} ✌️ x\u200dy</p>")
    assert seen.content == f"abcde {family} {persian} ✌️ xy"
    assert "Invisible characters, removed: 6." in seen.warnings


async def test_lone_surrogates_do_not_break_the_answer(reader: Reader) -> None:
    """Text that is no Unicode comes back with replacement characters."""
    assert (await reader.see("<script>document.body.append('a\\ud800b')</script>")).content == "a\ufffdb"


SHADOW = """<x-card><b slot=note>slotted</b></x-card><script>
customElements.define('x-card', class extends HTMLElement { connectedCallback() {
  const root = this.attachShadow({mode: 'open'});
  root.innerHTML = '<p>outer</p><slot name=note></slot><slot name=none>fallback</slot><div id=inner></div>';
  root.getElementById('inner').attachShadow({mode: 'open'}).innerHTML = '<p class=deep>inner</p>';
}})</script>"""


async def test_shadow_roots_are_read_as_they_are_composed(reader: Reader) -> None:
    """Open shadow roots, nested ones too, with slotted text once and in its slot."""
    assert (await reader.see(SHADOW)).content == "outer\n\nslottedfallback\n\ninner"


async def test_shadow_roots_are_part_of_the_html(reader: Reader) -> None:
    """Cleaned HTML holds what shadow roots show, as plain elements."""
    html = (await reader.see(SHADOW, "html")).content
    assert html.count("slotted") == 1
    assert re.search(r"<p>outer</p>.*slotted.*fallback.*<p class=\"deep\">inner</p>", html)


async def test_a_selector_reaches_into_shadow_roots(reader: Reader) -> None:
    """A CSS selector is looked for in open shadow roots, too."""
    assert (await reader.see(SHADOW, selector="p.deep")).content == "inner"


async def test_frames_of_the_same_origin_are_read_in_place(reader: Reader) -> None:
    """What an iframe shows stands where the iframe does; its links are resolved in it."""
    inner = reader.site.page("<p>framed <a href='/inner'>link</a></p>")
    seen = await reader.see(f"<p>a</p><iframe src={inner}></iframe><iframe srcdoc='<p>doc</p>'></iframe><p>b</p>")
    assert seen.content == "a\n\nframed link\n\ndoc\n\nb"
    assert seen.links == (Link("link", f"{reader.site.base}/inner"),)


async def test_fields_named_like_properties_hide_nothing(reader: Reader) -> None:
    """A form whose fields shadow its own properties is read like any other."""
    fields = "".join(
        f"<input name={each}>" for each in ("firstChild", "nextSibling", "localName", "nodeType", "shadowRoot")
    )
    assert (await reader.see(f"<form>{fields}<p>inside</p></form><p>after</p>")).content == "inside\n\nafter"


async def test_links(reader: Reader) -> None:
    """Links are http(s), absolute, unique, seen, in order, and named by their text, label or picture."""
    seen = await reader.see(
        "<a href='/a'> one \n link </a><a href='/a'>again</a><a href='mailto:x@e.test'>m</a><a href='javascript:1'></a>"
        "<a href='/b' aria-label=labelled></a><a href='/c'><img alt=picture src=x></a><a href='/d' hidden>no</a>"
        "<a href='/e'><div>block</div><div>link</div></a><a href='/f'></a><a>none</a>"
    )
    expected = [("one link", "/a"), ("labelled", "/b"), ("picture", "/c"), ("block link", "/e")]
    assert [(link.text, link.url.removeprefix(reader.site.base)) for link in seen.links] == expected


async def test_links_are_few_and_short(reader: Reader) -> None:
    """There are 50 links at most, each with 200 characters at most."""
    seen = await reader.see("".join(f"<a href='/{i}'>{'word ' * 100}</a>" for i in range(60)))
    assert len(seen.links) == 50
    assert all(len(link.text) <= 200 for link in seen.links)


async def test_title_and_address_come_with_the_text(reader: Reader) -> None:
    """Title, folded, and address are those of the document that was read."""
    seen = await reader.see("<!doctype html><title> A \n title\u200b </title><body>x")
    assert (seen.title, seen.url) == ("A title", reader.page.url)


async def test_html_is_clean(reader: Reader) -> None:
    """No scripts, styles, handlers or comments; addresses absolute; fields with the values they show."""
    seen = await reader.see(
        "<base href='/dir/'><!-- c --><p onclick='x()' style='top:0' class=k data-x=1>a &lt; b<script>1</script></p>"
        "<a href='n?x=1&y=2'>l</a><a href='javascript:1'>j</a><img src=i.png alt='&quot;'>"
        "<img src='data:,' data-src=lazy.png>"
        "<input value=old><input type=checkbox checked><script>document.querySelector('input').value = 'new'</script>",
        "html",
    )
    base = f"{reader.site.base}/dir/"
    assert seen.content == (
        f'<p class="k">a &lt; b</p><a href="{base}n?x=1&amp;y=2">l</a><a>j</a><img alt="&quot;" src="{base}i.png">'
        f'<img src="{base}lazy.png"><input value="new"><input type="checkbox" checked="">'
    )


async def test_html_keeps_formulas_as_tex(reader: Reader) -> None:
    """A formula that carries its TeX is given as that."""
    math = "<math><semantics><mi>x</mi><annotation encoding='application/x-tex'>x^2</annotation></semantics></math>"
    seen = await reader.see(
        f"<span class=katex><span class=katex-mathml>{math}</span><span>x2</span></span>", "markdown"
    )
    assert seen.content == "$x^2$"


async def test_markdown_is_made_of_what_is_shown(reader: Reader) -> None:
    """Markdown has the structure of the visible page, absolute links, and code with its white space."""
    seen = await reader.see(
        "<h1>T</h1><p hidden>no</p><ul><li><a href='/x'>x</a></li></ul>"
        "<pre><code class=language-py>if a:\n    b</code></pre><table><tr><th>a<th>b<tr><td>1<td>2</table>",
        "markdown",
    )
    table = "| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert seen.content == f"# T\n\n- [x]({reader.site.base}/x)\n\n```py\nif a:\n    b\n```\n\n{table}"


SENTENCES = "<p>The ferry carries lanterns over the sound, and the crew notes what it saw before dusk.</p>" * 4
MAIN = {
    "marked": f"<nav>menu</nav><main><h1>Title</h1>{SENTENCES}</main><footer>imprint</footer>",
    "by its role": f"<div>menu</div><div role=main><h1>Title</h1>{SENTENCES}</div><div>imprint</div>",
    "the only article": f"<div>menu</div><article><h1>Title</h1>{SENTENCES}</article><div>imprint</div>",
    "the densest": f"<ul><li>menu</ul><div><div><h1>Title</h1><div>{SENTENCES}</div></div></div><div>imprint</div>",
    "in a shadow root": (
        "<p>menu</p><x-app></x-app><p>imprint</p><script>"
        "document.querySelector('x-app').attachShadow({mode: 'open'})"
        f'.innerHTML = "<main><h1>Title</h1>{SENTENCES}</main>"</script>'
    ),
    "with boxes beside it": (
        f"<main><nav>menu</nav><header><h1>Title</h1></header>{SENTENCES}<aside>imprint</aside>"
        "<div class=cookie-bar style='position:fixed;bottom:0'>menu</div><div role=dialog>imprint</div></main>"
    ),
}


@pytest.mark.parametrize("html", MAIN.values(), ids=MAIN.keys())
async def test_main_content(reader: Reader, html: str) -> None:
    """The main part is found, and what lies around and beside it is dropped."""
    seen = await reader.see(html, main_content=True)
    assert seen.content.startswith("Title\n\nThe ferry")
    assert seen.content.count("The ferry") == 4
    assert "menu" not in seen.content
    assert "imprint" not in seen.content


@pytest.mark.parametrize(
    "html",
    [
        f"<main>short</main><div>{SENTENCES}</div>",
        f"<article>teaser</article><div>{SENTENCES}</div>",
        f"<article>{SENTENCES}</article><article>{SENTENCES}</article>",
        f"<nav>{SENTENCES}</nav>",
    ],
)
async def test_main_content_falls_back(reader: Reader, html: str) -> None:
    """A part marked as main that holds next to nothing is not believed, and something is always read."""
    assert "The ferry" in (await reader.see(html, main_content=True)).content


async def test_links_are_of_the_part_that_is_read(reader: Reader) -> None:
    """Links outside the selected or main part are left out."""
    html = f"<nav><a href='/out'>out</a></nav><main id=m>{SENTENCES}<a href='/in'>in</a></main>"
    for options in ({"selector": "#m"}, {"main_content": True}):
        seen = await reader.see(html, **options)
        assert [link.text for link in seen.links] == ["in"]


async def test_a_selector_that_matches_nothing(reader: Reader) -> None:
    """It is said that there is no such element."""
    with pytest.raises(ElementNotFound, match="#none"):
        await reader.see("<p>x</p>", selector="#none")


async def test_what_is_no_selector(reader: Reader) -> None:
    """It is said that the caller's selector is wrong."""
    with pytest.raises(InvalidRequest, match="CSS selector"):
        await reader.see("<p>x</p>", selector="p[")


async def test_an_element_found_by_other_means(reader: Reader) -> None:
    """An element handle is read like a selector's match, with its document's title and address."""
    await reader.page.goto(reader.site.page("<p>out</p><table><tr id=r><td>a<td><a href='/x'>b</a></table>", title="T"))
    handle = await reader.page.locator("#r").element_handle()
    seen = await read_element(handle, format="markdown", main_content=False, timeout_s=5)
    assert seen.content.splitlines()[-1] == f"| a | [b]({reader.site.base}/x) |"
    assert (seen.title, seen.url, len(seen.links)) == ("T", reader.page.url, 1)


async def test_the_root_element_is_the_page(reader: Reader) -> None:
    """Reading `html` gives what reading the page gives."""
    assert (await reader.see("<p>x</p>", "html", selector="html")).content == "<p>x</p>"


@pytest.mark.parametrize(("limit", "why"), [("MAX_NODES", "nodes"), ("MAX_CHARS", "characters")])
async def test_a_huge_page_is_cut(reader: Reader, monkeypatch: pytest.MonkeyPatch, limit: str, why: str) -> None:
    """Beyond its limits a page is read in part, with well-formed HTML, and that is said."""
    monkeypatch.setattr(reading, limit, 500)
    seen = await reader.see("<div><p>0123456789</p></div>" * 1000, "html")
    assert seen.truncated_dom
    assert seen.content.startswith("<div><p>0123456789</p></div>")
    assert seen.content.count("<div>") == seen.content.count("</div>") < 500
    assert any(why in each for each in seen.warnings)


async def test_a_slow_page_is_read_in_part(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk ends well before the time limit, with what it has."""
    monkeypatch.setattr(reading, "PAGE_SHARE", 0.0001)
    seen = await reader.see("<p>0123456789</p>" * 100_000)
    assert seen.truncated_dom
    assert seen.content.startswith("0123456789")
    assert any("time limit" in each for each in seen.warnings)


async def test_a_page_of_two_hundred_thousand_nodes(reader: Reader) -> None:
    """It is read whole, and soon."""
    seen = await reader.see("<div><p>0123456789</p></div>" * 65_000)
    assert not seen.truncated_dom
    assert seen.content.count("0123456789") == 65_000


DEEP = """<script>let at = document.body;
for (let i = 0; i < 1500; i++) at = at.appendChild(document.createElement('div'));
at.append('bottom')</script>"""


@pytest.mark.parametrize("form", ["text", "html", "markdown"])
async def test_deep_nesting(reader: Reader, form: Format) -> None:
    """Depth overflows neither the walk in the page nor the converter."""
    assert "bottom" in (await reader.see(DEEP, form, main_content=True)).content


async def test_a_page_that_does_not_answer(reader: Reader) -> None:
    """Reading a page whose script never ends is given up in time, and the page is freed."""
    await reader.see("<p>x</p>")
    async with reader.page.expect_console_message():
        busy = asyncio.create_task(reader.page.evaluate("() => { console.log('begun'); for (;;); }"))
    with pytest.raises(TimedOut):
        await read(reader.world, selector=None, format="text", main_content=False, timeout_s=0.5)
    with pytest.raises(PlaywrightError):
        await busy
    assert (await reader.see("<p>well</p>")).content == "well"


async def test_the_page_cannot_notice(reader: Reader) -> None:
    """Reading calls none of the page's own functions and leaves nothing in its world."""
    await reader.see(
        "<p>x</p><script>window.before = Object.keys(window).length;"
        "String.prototype.toWellFormed = window.getComputedStyle = () => { window.noticed = true }</script>"
    )
    assert await reader.page.evaluate("[window.noticed, Object.keys(window).length - window.before]") == [None, 1]
