"""A page made ready: what is closed is opened, what nobody sees is taken out and counted."""

import pytest

from fetch.prepare import Prepared, prepare
from fetch.text import text_of

WORDS = "Plain words that anyone sees on this page. " * 5


def ready(html: str) -> Prepared:
    """Prepare a page with some visible words before."""
    return prepare(f"<p>{WORDS}</p>{html}", "http://site.example/dir/")


@pytest.mark.parametrize(
    "html",
    [
        "<p hidden>trap</p>",
        "<p style='display: none'>trap</p>",
        "<p style='visibility:hidden'>trap</p>",
        "<p style='position:absolute; left:-9999px'>trap</p>",
        "<p style='font-size:0'>trap</p>",
        "<p style='height:0;overflow:hidden'>trap</p>",
        "<p style='color:#fff;background:white'>trap</p>",
        "<p style='color:white'>trap</p>",
        "<p style='clip-path: inset(100%)'>trap</p>",
        "<style>.x{color:red;display:none}</style><p class='a x'>trap</p>",
        "<style>p#y, b { left: -99999px }</style><p id=y>trap</p>",
        "<div aria-hidden=true class=site-overlay>trap</div>",
        "<dialog>trap</dialog>",
    ],
)
def test_what_nobody_sees_is_left_out_and_counted(html: str) -> None:
    """By attribute, by inline style, by a plain rule, off the page, without size or contrast."""
    page = ready(html)
    assert "trap" not in text_of(page.root)
    assert (page.hidden, page.hidden_characters) == (1, 4)


@pytest.mark.parametrize(
    "html",
    [
        "<p hidden=until-found>shown</p>",
        "<p style='font-size:0.9rem'>shown</p>",
        "<p style='display:none;display:block'>shown</p>",
        "<style>@media print {.x{display:none}}</style><p class=x>shown</p>",
        "<style>.x{display:none} .open .x{display:block}</style><p class=x>shown</p>",
        "<style>body{background:#111}</style><p style='color:white'>shown</p>",
        "<div role=tabpanel hidden>shown</div>",
        "<button aria-controls=more>More</button><div id=more hidden>shown</div>",
        "<div style='opacity:0;transform:translateY(20px)'>shown</div>",
        "<span aria-hidden=true>shown</span>",
    ],
)
def test_what_can_be_seen_stays(html: str) -> None:
    """Also what a control of the page opens, or a script fades in."""
    page = ready(html)
    assert "shown" in text_of(page.root)
    assert page.hidden == 0


def test_a_page_that_its_scripts_reveal_is_not_hidden() -> None:
    """Where nearly all would be left out, the rule is wrong."""
    page = prepare(f"<body><p>Loading<div style='visibility:hidden'><p>{WORDS}</p><p hidden>trap</p></div>", "")
    assert "anyone sees" in text_of(page.root)
    assert "trap" not in text_of(page.root)


def test_labels_for_screen_readers_are_left_out_but_not_counted() -> None:
    """Nearly every page has them."""
    page = ready("<a class=sr-only href=#main>Skip to content</a>")
    assert "Skip" not in text_of(page.root)
    assert page.hidden == 0


def test_declarative_shadow_roots_are_opened() -> None:
    """What the host holds stands at the slots."""
    inner = "<template shadowrootmode=open><b>C</b></template>"
    page = prepare(
        "<x-a><template shadowrootmode=open><p>A <slot></slot>!</p><slot name=n></slot>"
        f"<x-b>{inner}</x-b></template><i>B</i><u slot=n>N</u></x-a>",
        "",
    )
    assert text_of(page.root) == "A B!\nN\nC"


def test_frames_with_their_source_are_part_of_the_page() -> None:
    """Also one in another."""
    page = prepare(
        """<p>a<iframe srcdoc='<p>b<iframe srcdoc="&lt;p>c"></iframe>'></iframe><iframe src=x>no</iframe>""", ""
    )
    assert text_of(page.root) == "a\nb\nc"


def test_segments_that_react_streams_come_to_their_places() -> None:
    """Instead of what stood there until they came."""
    page = prepare(
        "<main><p>a</p><!--$?--><template id=B:0></template><p>wait</p><!--/$--><p>c</p></main>"
        "<div hidden id=S:0><p>b</p></div><script>$RC('B:0','S:0')</script>",
        "",
    )
    assert text_of(page.root) == "a\nb\nc"
    assert page.hidden == 0


def test_a_page_for_those_without_scripts_is_read() -> None:
    """Where there is nothing else; a notice is not."""
    whole = "<noscript><p>" + WORDS * 10 + "</p></noscript>"
    assert "anyone sees" in text_of(prepare(f"<div id=app></div>{whole}", "").root)
    assert text_of(prepare("<p>a</p><noscript>Enable scripts</noscript>", "").root) == "a"


def test_pictures_for_those_without_scripts_replace_empty_ones() -> None:
    """A lazy picture's own address is left to whoever reads it."""
    page = prepare("<img src='data:,'><noscript><img src=/a.png></noscript><p>t", "")
    assert [each.attributes["src"] for each in page.root.css("img")] == ["/a.png"]
    page = prepare("<img data-src=/b.png><noscript><img src=/a.png></noscript><p>t", "")
    assert [each.attributes.get("data-src") for each in page.root.css("img")] == ["/b.png"]


@pytest.mark.parametrize(
    "html",
    [
        "<span class=katex><math><annotation encoding=application/x-tex>a_1</annotation></math><i>drawn</i></span>",
        "<span class=MathJax>drawn</span><script type='math/tex'>a_1</script>",
        "<math alttext='a_1'><mi>drawn</mi></math>",
    ],
)
def test_formulas_hold_their_source_alone(html: str) -> None:
    """As KaTeX, MathJax and MathML give it."""
    assert text_of(prepare(f"<p>x {html} y", "").root) == "x a_1 y"


def test_addresses_are_relative_to_the_base() -> None:
    """That of the page where it names none."""
    assert (
        prepare("<base href=/other/><title> A  b </title>", "http://site.example/dir/").base
        == "http://site.example/other/"
    )
    assert ready("").base == "http://site.example/dir/"
