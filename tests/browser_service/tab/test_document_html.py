"""The copy of a document: what a person sees of it, in a form that a parser gives back; the rest is marked or gone."""

import pytest

from browser_service.service import Service
from tests.browser_service.renderings import elsewhere, rendered, shown
from tests.site import Site


@pytest.mark.parametrize("light", [True, False])
async def test_frames_stand_in_their_place(site: Site, service: Service, light: bool) -> None:
    """Documents of frames, of this origin and of another, nested ones too, are in the copy with absolute links."""
    inner = site.page("<p>other origin</p><a href='/x'>link</a><iframe srcdoc='<i>deep</i>'></iframe>")
    foreign = elsewhere(site) + inner.removeprefix(site.base)
    url = site.page(f"<p>a</p><iframe srcdoc='<p>same origin</p>'></iframe><iframe src='{foreign}'></iframe><p>z</p>")
    page = await rendered(service, url, light=light)
    assert shown(page) == "a same origin other origin link deep z"
    assert f'href="{elsewhere(site)}/x"' in str(page.html)


@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_shadow_roots_are_declared(site: Site, service: Service, mode: str) -> None:
    """Shadow roots, nested ones too, come as templates that a parser makes shadow roots of again, slots kept."""
    url = site.page(
        "<x-card>slotted</x-card><script>"
        f"const add = (el, html) => el.attachShadow({{ mode: '{mode}' }}).innerHTML = html;"
        "customElements.define('x-in', class extends HTMLElement { constructor() { super();"
        " add(this, '<b>inner</b>') } });"
        "customElements.define('x-card', class extends HTMLElement { constructor() { super();"
        " add(this, '<p>card <slot>fallback</slot></p><x-in></x-in>') } })</script>"
    )
    html = str((await rendered(service, url)).html)
    start = '<template shadowrootmode="open">'
    assert (
        f"<x-card>{start}<p>card <slot></slot></p><x-in>{start}<b>inner</b></template></x-in></template>slotted" in html
    )


@pytest.mark.parametrize(
    ("style", "seen"),
    [
        ("display:none", False),
        ("visibility:hidden", False),
        ("opacity:0", False),
        ("position:absolute; left:-5000px", False),
        ("position:absolute; clip:rect(0,0,0,0)", False),
        ("width:1px; height:1px; overflow:hidden", False),
        ("font-size:0", False),
        ("opacity:0; transition:opacity 1s", True),
        ("margin-top:5000px", True),
        ("height:0", True),
    ],
)
async def test_what_nobody_sees_is_marked(site: Site, service: Service, style: str, seen: bool) -> None:
    """Text that the page's styles keep from being seen is in the copy, marked hidden."""
    page = await rendered(service, site.page(f"<style>.s {{ {style} }}</style><p>a</p><div class='s'>secret</div>"))
    assert "secret" in str(page.html)
    assert ("secret" in shown(page)) is seen


async def test_what_is_seen_in_spite_of_its_attributes_is_not_marked(site: Site, service: Service) -> None:
    """The computed style decides, not the attribute; and a visible part of an invisible element is visible."""
    url = site.page(
        "<style>[hidden], [style] { display: block !important }</style><p hidden>one</p><p style='display:none'>two</p>"
        "<div style='visibility:hidden'>never <b style='visibility:visible'>three</b></div>"
    )
    assert shown(await rendered(service, url)) == "one two three"


async def test_fields_named_like_properties_change_nothing(site: Site, service: Service) -> None:
    """A form and pictures whose names shadow those of the DOM are copied as any others."""
    names = ["firstChild", "attributes", "getBoundingClientRect", "nextSibling", "style", "offsetWidth"]
    fields = "".join(f"<input name={name}>" for name in names)
    pictures = "".join(f"<img name={name}>" for name in ("body", "head", "title", "contentType", "URL"))
    page = await rendered(
        service, site.page(f"<form style='position:relative'>{fields}<p>text</p></form>{pictures}<p>end</p>")
    )
    assert (shown(page), page.title) == ("text end", "Test")


async def test_a_formula_keeps_its_source(site: Site, service: Service) -> None:
    """The TeX that is clipped away for screen readers is not marked hidden."""
    tex = "<annotation encoding='application/x-tex'>x^2</annotation>"
    clipped = "position:absolute; clip:rect(1px,1px,1px,1px); overflow:hidden; width:1px; height:1px"
    url = site.page(f"<span style='{clipped}'><math><semantics><mi>x</mi>{tex}</semantics></math></span>")
    assert "x^2" in shown(await rendered(service, url))


async def test_a_deep_document_is_copied_flat(site: Site, service: Service) -> None:
    """Of elements in one another by the thousand, only so many are kept as readers can bear, and the text in them."""
    url = site.page(
        "<p></p><script>let at = document.querySelector('p'); for (let i = 0; i < 3000; i++)"
        " at = at.appendChild(document.createElement('i')); at.textContent = 'bottom'</script>"
    )
    page = await rendered(service, url)
    assert 400 < str(page.html).count("<i>") < 600
    assert shown(page) == "bottom"


async def test_a_hidden_depth_is_survived(site: Site, service: Service) -> None:
    """100 000 elements in one another, which Chromium itself survives only undrawn, do not stop the copy."""
    url = site.page(
        "<p style='display:none'></p><script>let at = document.querySelector('p'); for (let i = 0; i < 100000; i++)"
        " at = at.appendChild(document.createElement('i'))</script><p>shown</p>"
    )
    assert shown(await rendered(service, url)) == "shown"


async def test_a_large_table_is_whole(site: Site, service: Service) -> None:
    """15 000 rows come back in one piece."""
    rows = "".join(f"<tr><td>{number}<td>row</tr>" for number in range(15_000))
    page = await rendered(service, site.page(f"<table>{rows}</table>"))
    assert str(page.html).count("<tr>") == 15_000


async def test_the_document_is_the_live_one(site: Site, service: Service) -> None:
    """What scripts made is in the copy, a base address is explicit, scripts' data stay and the rest of them goes."""
    data = '<script type="application/ld+json">{"name": "x"}</script>'
    url = site.page(
        f"{data}<style>p {{}}</style><script>document.body.insertAdjacentHTML('beforeend', '<p>made</p>')</script>"
    )
    page = await rendered(service, url)
    assert shown(page) == "made"
    assert f'<base href="{url}">' in str(page.html)
    assert data in str(page.html)
    assert "<style" not in str(page.html)
