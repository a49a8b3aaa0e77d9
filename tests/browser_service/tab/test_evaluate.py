"""Callers' scripts in real pages, in both browsers."""

import asyncio
import json
from typing import Any, Literal

import pytest

from browser_service.errors import ScriptFailed, TimedOut
from browser_service.tab.evaluate import Evaluated, evaluate, evaluate_in_frame
from tests.browser_service.tab.chromium import BareTab
from tests.site import Site

WorldName = Literal["main", "isolated"]
STRICT: dict[str, Any] = {
    "Content_Security_Policy": "default-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}


async def run(tab: BareTab, js: str, world: WorldName = "main", limit_s: float = 10, **given: int) -> Evaluated:
    """Run a script in the tab."""
    return await evaluate(tab.cdp, js, world=world, isolated=tab.world, timeout_s=limit_s, **given)


VALUES: dict[str, Any] = {
    "1 + 1": 2,
    "'héllo 你好 😀'": "héllo 你好 😀",
    "return 5": 5,
    "() => 7": 7,
    "async () => { return await 8 }": 8,
    "function named() { return 9 }": 9,
    "await Promise.resolve(3)": 3,
    "const r = await Promise.resolve(3); r * 2": 6,
    "const a = 1\na + 1": 2,
    "document.title;": "T",
    "1; // tail": 1,
    "{a: 1}": {"a": 1},
    "({a: [1, null, {b: ''}]})": {"a": [1, None, {"b": ""}]},
    "null": None,
    "": None,
    "// only a comment": None,
    "let x = 1": None,
    "if (true) { return 'inner' }": "inner",
    "for (let i = 0; i < 3; i++) {}\n'done'": "done",
    "`t;\n${1};`": "t;\n1;",
    "'a\u2028b'": "a\u2028b",
}


@pytest.mark.parametrize("world", ["main", "isolated"])
async def test_values_under_a_strict_policy(tab: BareTab, site: Site, world: WorldName) -> None:
    """Expressions, statements and bodies give their values in both worlds, whatever the page's policy forbids."""
    await tab.page.goto(site.page("x", title="T", **STRICT))
    assert {js: (await run(tab, js, world)).value for js in VALUES} == VALUES


DESCRIBED = {
    "10n": "10n",
    "NaN": "NaN",
    "-Infinity": "-Infinity",
    "Symbol('q')": "Symbol(q)",
    "/a+/gi": "/a+/gi",
    "new Date(0)": "1970-01-01T00:00:00.000Z",
    "new Date(NaN)": "Invalid Date",
    "new TypeError('bad')": "TypeError: bad",
    "new DOMException('m', 'N')": "N: m",
    "document.body": "<body#b.c.d>",
    "document": "#document",
    "document.createTextNode('hi')": '#text "hi"',
    "window": "[object Window]",
    "new Map([['k', {a: 1}], [2, new Set([3])]])": 'Map(2) {"k" => {"a":1}, 2 => "Set(1) {3}"}',
    "new Set([1, 'x'])": 'Set(2) {1, "x"}',
    "new Uint8Array([1, 2])": "Uint8Array(2) [1, 2]",
    "new ArrayBuffer(8)": "ArrayBuffer(8)",
    "Promise": "[function Promise]",
    "new Response('x')": "[object Response]",
    "class A {}": "[function A]",
    "({toJSON() { throw 1 }})": "[threw 1]",
    "'\\ud800x'": "\ufffdx",
}


async def test_what_json_cannot_hold_is_described(tab: BareTab, site: Site) -> None:
    """Such values come as text that says what they are, never as an error."""
    await tab.page.goto(site.page("<script>document.body.id = 'b'; document.body.className = 'c d'</script>"))
    seen = {js: await run(tab, f"[{js}][0]" if js == "Promise" else js) for js in DESCRIBED if js != "Promise"}
    assert {js: each.value for js, each in seen.items()} == {k: v for k, v in DESCRIBED.items() if k != "Promise"}
    assert all(each.result == each.value for each in seen.values())


NESTED: dict[str, Any] = {
    "const a = {n: 1}; a.self = a; a": {"n": 1, "self": "[circular]"},
    "const b = {}; [b, b]": [{}, {}],
    "({get x() { throw new Error('no') }, y: 1})": {"x": "[threw Error: no]", "y": 1},
    "({f() {}, n: 1n, u: undefined, s: Symbol('s')})": {"f": "[function f]", "n": "1n", "s": "Symbol(s)"},
    "[undefined, , NaN]": [None, None, "NaN"],
    "document.querySelectorAll('p')": ["<p>", "<p#z>"],
    "new Proxy({a: 1}, {})": {"a": 1},
    "new Proxy({}, {ownKeys() { throw new Error('trap') }})": "[threw Error: trap]",
    "({['__proto__']: 1, '\\udfff': 2})": {"__proto__": 1, "\ufffd": 2},
    "[new String('boxed'), new Number(1), Object(2n)]": ["boxed", 1, "2n"],
    "new (class A { constructor() { this.z = 1 } })": {"z": 1},
    "new URL('http://a/b')": "http://a/b",
}


async def test_odd_parts_do_not_spoil_the_whole(tab: BareTab, site: Site) -> None:
    """Cycles, throwing getters, proxies and lone surrogates are described in their place; the rest is as it is."""
    await tab.page.goto(site.page("<p>1<p id=z>2"))
    assert {js: (await run(tab, js)).value for js in NESTED} == NESTED


async def test_results_are_text_or_indented_json(tab: BareTab, site: Site) -> None:
    """A string is itself, anything else is JSON that a person can read; undefined says so."""
    await tab.page.goto(site.page("x"))
    assert (await run(tab, "'a \"b\"'")).result == 'a "b"'
    assert (await run(tab, "({a: [1]})")).result == json.dumps({"a": [1]}, indent=2)
    assert await run(tab, "undefined") == Evaluated(None, "undefined")
    assert await run(tab, "null") == Evaluated(None, "null")


async def test_old_libraries_do_not_change_the_json(tab: BareTab, site: Site) -> None:
    """A toJSON on the prototype of arrays, as an old library leaves it, makes no strings of them."""
    await tab.page.goto(site.page("<script>Array.prototype.toJSON = () => 'wrong'</script>"))
    assert (await run(tab, "({a: [1, [2]]})")).value == {"a": [1, [2]]}


async def test_deep_nesting_ends(tab: BareTab, site: Site) -> None:
    """Over a hundred levels the rest is named, and the result can still be read as JSON."""
    await tab.page.goto(site.page("x"))
    seen = await run(tab, "let a = []; for (let i = 0; i < 5000; i++) a = [a]; a")
    assert "[object Array]" in json.dumps(seen.value)


@pytest.mark.parametrize(
    "js",
    ["'x'.repeat(3000)", "'你'.repeat(1000)", "Array.from({length: 500}, (_, i) => 'row ' + i)", "new Array(1e9)"],
)
async def test_long_results_are_cut_in_the_page(tab: BareTab, site: Site, js: str) -> None:
    """Over the limit of UTF-8 bytes the text ends, marked, with no character split."""
    await tab.page.goto(site.page("x"))
    seen = await run(tab, js, limit_bytes=2000)
    assert seen.truncated
    assert 1997 <= len(seen.result.encode()) <= 2000
    assert seen.value == (seen.result if js.startswith("'") else None)


async def test_the_whole_can_be_kept(tab: BareTab, site: Site) -> None:
    """The full text comes along where it is asked for, in pieces that split no character."""
    await tab.page.goto(site.page("x"))
    seen = await run(tab, "'a' + '😀'.repeat(1_000_000)", limit_bytes=1000, keep_bytes=10_000_000)
    assert seen.truncated
    assert len(seen.result) == 250
    assert seen.whole == "a" + "😀" * 1_000_000


FAILING = {
    "throw new Error('x')": "Error: x (line 1 of the script)",
    "\n\nnull.foo": "TypeError: Cannot read properties of null (reading 'foo') (line 3 of the script)",
    "const a = 1;\nawait 0;\nnosuch()": "ReferenceError: nosuch is not defined (line 3 of the script)",
    "a();\nfunction a() {\n  b()\n}": "ReferenceError: b is not defined (line 3 of the script)",
    "throw 'text'": "text",
    "throw {a: 1}": '{"a":1}',
    "throw null": "null",
    "Promise.reject(new Error('later'))": "Error: later (line 1 of the script)",
    "JSON.parse('{')": "SyntaxError: Expected property name or '}' in JSON at position 1 (line 1 column 2)"
    " (line 1 of the script)",
    "const a = 1;\nconst x = ;": "The script does not parse: SyntaxError: Unexpected token ';' (line 2 of the script)",
    "f(1,\n": "The script does not parse: SyntaxError: Unexpected end of the script (line 2 of the script)",
}


@pytest.mark.parametrize("world", ["main", "isolated"])
async def test_errors_name_the_callers_line(tab: BareTab, site: Site, world: WorldName) -> None:
    """What the script throws, and where it does not parse, is told with the line of the caller's own text."""
    await tab.page.goto(site.page("x"))
    seen = {}
    for js in FAILING:
        with pytest.raises(ScriptFailed) as caught:
            await run(tab, js, world)
        seen[js] = caught.value.detail
    assert seen == FAILING


async def test_nothing_runs_twice(tab: BareTab, site: Site) -> None:
    """A script that throws a SyntaxError of its own is not taken for one that does not parse."""
    await tab.page.goto(site.page("x"))
    with pytest.raises(ScriptFailed):
        await run(tab, "window.runs = (window.runs || 0) + 1; await 0; JSON.parse('{'); window.runs")
    assert (await run(tab, "window.runs")).value == 1


async def test_worlds_are_apart(tab: BareTab, site: Site) -> None:
    """The isolated world shares the document, not the page's variables, and keeps its own between calls."""
    await tab.page.goto(site.page("<script>var theirs = 1</script>", title="T"))
    assert (await run(tab, "typeof theirs + document.title", "isolated")).value == "undefinedT"
    await run(tab, "globalThis.ours = 2", "isolated")
    assert (await run(tab, "ours", "isolated")).value == 2
    assert (await run(tab, "typeof ours")).value == "undefined"


async def test_the_page_sees_nothing_of_ours(tab: BareTab, site: Site) -> None:
    """No global, no use of a replaced eval, no name in stacks."""
    await tab.page.goto(
        site.page(
            "<script>var evals = 0, theirs = eval; eval = (js) => { evals++; return theirs(js) };"
            "function stack() { return new Error().stack }"
            "const before = Object.getOwnPropertyNames(window).length</script>"
        )
    )
    await run(tab, "const a = 1; a")
    assert (await run(tab, "Object.getOwnPropertyNames(window).length - before + evals")).value == 0
    frames = (await run(tab, "stack()")).value.splitlines()[2:]
    assert all("<anonymous>" in frame or "at run" in frame for frame in frames)


ENDLESS = (
    "while (true) {}",
    "for (;;) try { for (;;); } catch {}",
    "/(a+)+$/.test('a'.repeat(40) + 'b')",
    "(async () => { for (;;) await 0 })()",
    "new Promise(() => {})",
    "setTimeout(() => { for (;;); }); new Promise(() => {})",
    "({get x() { for (;;); }})",
    "frames[0].Function('for (;;);')()",
)


@pytest.mark.parametrize("js", ENDLESS)
async def test_endless_scripts_end_at_the_limit(tab: BareTab, site: Site, js: str) -> None:
    """Loops, patterns, storms of microtasks and promises that never settle time out, and the page can be used."""
    loop = asyncio.get_running_loop()
    await tab.page.goto(site.page("<iframe></iframe>"))
    began = loop.time()
    with pytest.raises(TimedOut):
        await run(tab, js, limit_s=0.3)
    assert loop.time() - began < 1.3
    assert (await run(tab, "1 + 1")).value == 2


async def test_a_page_that_moves_on(tab: BareTab, site: Site) -> None:
    """A navigation during the script fails it, and nothing is run again in the next document."""
    await tab.page.goto(site.page("x"))
    target = site.page("two", title="two")
    with pytest.raises(ScriptFailed, match="moved on"):
        await run(tab, f"location = '{target}'; await new Promise(() => {{}})")
    await tab.page.wait_for_function("document.title === 'two'")
    assert site.hits[target.removeprefix(site.base)] == 1


async def test_scripts_have_a_users_leave(tab: BareTab, site: Site) -> None:
    """Scripts may do what needs a click, and dialogs do not hold them up."""
    await tab.page.goto(site.page("x"))
    assert (await run(tab, "navigator.userActivation.isActive")).value is True
    assert (await run(tab, "alert(1); const w = open('about:blank'); w.close(); !!w")).value is True


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_frames_run_scripts_too(tab: BareTab, site: Site, host: str) -> None:
    """In an iframe, of the same site under a strict policy or of another, all is as in the page."""
    inner = site.page("x", title="inner", **STRICT).replace("127.0.0.1", host)
    await tab.page.goto(site.page(f"<iframe src='{inner}'></iframe>"))
    frame = tab.page.frames[1]

    async def inside(js: str, limit_s: float = 5) -> Evaluated:
        return await evaluate_in_frame(frame, tab.cdp, js, timeout_s=limit_s, limit_bytes=1000)

    assert (await inside("const t = document.title; t")).value == "inner"
    assert (await inside("'x'.repeat(2000)")).truncated
    with pytest.raises(ScriptFailed, match=r"nosuch is not defined \(line 2 of the script\)"):
        await inside("1;\nnosuch()")
    with pytest.raises(ScriptFailed, match="does not parse"):
        await inside("1 +")
    with pytest.raises(TimedOut):
        await inside("for (;;);", 0.3)
    assert (await inside("document.title")).value == "inner"


async def test_large_results_are_quick(tab: BareTab, site: Site) -> None:
    """Forty thousand small objects, which take Playwright seconds, come well within one."""
    await tab.page.goto(site.page("x"))
    seen = await run(tab, "Array.from({length: 40000}, (_, id) => ({id, name: 'item ' + id}))", limit_s=5)
    assert len(seen.value) == 40_000
