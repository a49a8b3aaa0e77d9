"""Refs under torture: pages that change at random between the snapshot and the click."""

import asyncio
import random
import re
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser
from playwright.async_api import Error as PlaywrightError

from browser_service.tab import refs
from browser_service.tab.snapshot import Snapshot, View, take
from browser_service.tab.tab import Tab
from tests.browser_service.tab.chromium import Kind

# Every row says what it is of: its data. A click notes what the row says at that moment.
PAGE = """<ul id=list></ul><div id=cards></div><div id=one></div><iframe srcdoc="<button>Frame pay</button>"></iframe>
<script>
let serial = 0; window.hits = [];
const note = (e) => { const b = e.target.closest('button');
  const said = b && [b.closest('[data-what]').children[0].textContent, b.ariaLabel ?? b.textContent];
  hits.push(said ? said.join(': ') : 'elsewhere') };
document.addEventListener('click', note);
const row = (n) => `<i>Order ${n}</i> <button>Delete</button> <button>Open ${n}</button>`;
const fresh = () => ++serial + 1000;
const fill = (el, n) => { el.dataset.what = n; el.innerHTML = row(n); return el };
for (let i = 0; i < 6; i++) list.append(fill(document.createElement('li'), fresh()));
for (let i = 0; i < 4; i++) cards.append(fill(document.createElement('div'), fresh()));
fill(one, fresh());
const set = (el, n) => { // the nodes stay, the data changes, as frameworks do without keys
  el.dataset.what = n; el.children[0].textContent = `Order ${n}`; el.children[2].textContent = `Open ${n}` };
const pick = (r) => { const all = [...list.children, ...cards.children]; return all[Math.floor(r * all.length)] };
const CHANGES = [
  (r) => pick(r).remove(), (r) => pick(r).before(fill(document.createElement('li'), fresh())),
  (r) => { const el = pick(r); el.replaceWith(el.cloneNode(true)) },
  (r) => { const el = pick(r); fill(el, el.dataset.what) },
  (r) => set(pick(r), fresh()),
  (r) => { const all = [...list.children]; const data = all.map((e) => e.dataset.what); data.push(data.shift());
    all.forEach((e, i) => set(e, data[i])) },
  (r) => list.append(...[...list.children].reverse()),
  (r) => { const el = pick(r); pick(1 - r).children[1]?.replaceWith(el.children[1]);
    el.children[0].after(document.createElement('button')) },
  (r) => { pick(r).children[1].textContent = 'Pay' },
  (r) => { pick(r).children[1].setAttribute('aria-label', 'Keep') },
  (r) => { const item = (n) => `<li data-what=${n}>${row(n)}</li>`;
    list.innerHTML = [...list.children].map((e) => item(e.dataset.what)).join('') },
  (r) => { document.querySelector('iframe').srcdoc = `<button>Frame pay</button>` },
  (r) => { set(one, fresh()) }, (r) => { document.body.prepend(document.createElement('p')) },
  (r) => { pick(r).className = 'x' },
];
window.change = (n, r) => { try { CHANGES[n % CHANGES.length](r) } catch (e) { }
  while (list.children.length + cards.children.length < 8)
  list.append(fill(document.createElement('li'), fresh())) };
</script>"""


class Bench:
    """A tab with snapshots and clicks by ref."""

    def __init__(self, tab: Tab) -> None:
        self.tab = tab
        self.numbers = refs.Numbers()

    async def look(self, view: View | None = None) -> Snapshot:
        """A snapshot."""
        deadline = asyncio.get_running_loop().time() + 20
        return await take(self.tab, self.numbers, view or View(), None, 0, deadline=deadline)

    async def meant(self, seen: Snapshot) -> dict[str, str]:
        """The rows' buttons: ref -> what it is called, and what its row says."""
        found: dict[str, str] = {}
        order = ""
        for line in seen.lines:
            if match := re.search(r'"(Order \d+)', line.head + line.tail):
                order = match[1]
            if line.head.startswith("button") and line.ref and not line.ref.startswith("f"):
                found[line.ref] = f"{order}: {line.head[8:-1]}"
        return found

    async def click(self, ref: str) -> bool:
        """Whether it could be clicked; False where the ref is stale."""
        page, frames = self.tab.page, self.tab.frames
        try:
            await refs.locate(page, frames, ref, "!").click(timeout=3000)
            return await refs.refused(page, frames, ref) is None
        except PlaywrightError as fault:
            if refs.stale(fault) is None:
                raise
            return False


@pytest.fixture
async def bench(browser: Browser, kind: Kind) -> AsyncIterator[Bench]:
    """A tab for each test."""
    page = await browser.new_page()
    tab = await Tab.attach(page, light=kind == "light")
    yield Bench(tab)
    await page.close()


async def test_random_changes_never_lead_to_a_wrong_click(bench: Bench) -> None:
    """200 mutations between snapshot and click: either the row that was meant is clicked, or the ref is stale."""
    dice = random.Random(20260)
    await bench.tab.page.set_content(PAGE)
    wrong, clicked, stale = [], 0, 0
    for _ in range(200):
        meant = await bench.meant(await bench.look())
        ref = dice.choice(sorted(meant))
        await bench.tab.page.evaluate("([n, r]) => change(n, r)", [dice.randrange(15), dice.random()])
        await bench.tab.page.evaluate("() => { hits = [] }")
        if await bench.click(ref):
            clicked += 1
            hits = await bench.tab.page.evaluate("hits")
            if hits != [meant[ref]]:
                wrong.append((meant[ref], hits))
        else:
            stale += 1
    assert wrong == []
    assert clicked > 60
    assert stale > 20


async def test_changes_without_end_never_lead_to_a_wrong_click(bench: Bench) -> None:
    """Rows that get other data all the time, also under the pointer: a press reaches the row that was meant or none."""
    dice = random.Random(4)
    await bench.tab.page.set_content(PAGE)
    await bench.tab.page.evaluate("""() => {
      let n = 0;
      setInterval(() => change(4, (n = (n + 7) % 10) / 10), 15);
      addEventListener('mousemove', (e) => {
        const el = e.target.closest('[data-what]'); if (el && ++n % 3 === 0) set(el, fresh()) });
    }""")
    clicked = 0
    for _ in range(60):
        meant = await bench.meant(await bench.look())
        ref = dice.choice(sorted(meant))
        await bench.tab.page.evaluate("() => { hits = [] }")
        done = await bench.click(ref)
        hits = await bench.tab.page.evaluate("hits")
        assert hits in ([meant[ref]], []), (meant[ref], hits)
        assert done == bool(hits)
        clicked += done
    assert clicked < 60


async def test_a_counter_that_counts_its_own_presses_can_be_pressed_again(bench: Bench) -> None:
    """The count in brackets may change, the rest of the name may not."""
    await bench.tab.page.set_content(
        "<button onclick='this.textContent = `Like (${n += 1})`'>Like (0)</button><script>n=0</script>"
    )
    ref = (await bench.look()).lines[0].ref
    assert [await bench.click(ref) for _ in range(3)] == [True] * 3
    assert (await bench.look()).lines[0].ref == ref
    await bench.tab.page.evaluate("document.querySelector('button').textContent = 'Dislike (3)'")
    assert not await bench.click(ref)


async def test_pages_do_not_see_the_engine(bench: Bench) -> None:
    """Scripts that replace what every page has neither notice a snapshot nor break it, nor other selectors by it."""
    page = bench.tab.page
    await page.set_content("""<button>Go</button><script>window.calls = 0;
      const trap = (owner, name) => { const old = owner[name];
        owner[name] = function (...given) { calls++; return old.apply(this, given) } };
      for (const name of ['getOwnPropertyDescriptor', 'hasOwn']) trap(Object, name);
      for (const name of ['getAttribute', 'checkVisibility', 'closest', 'matches']) trap(Element.prototype, name);
      trap(window, 'getComputedStyle'); window.WeakRef = window.ShadowRoot = undefined</script>""")
    ref = (await bench.look()).lines[0].ref
    await refs.locate(page, bench.tab.frames, ref).evaluate("e => 1")
    assert await page.evaluate("calls") == 0
    assert await page.locator("button").evaluate_all("all => all.length") == 1
