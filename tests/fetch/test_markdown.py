"""HTML to Markdown."""

import pytest

from fetch import markdown
from fetch.markdown import to_markdown

PAGE = "https://site.test/dir/page.html"

CASES = {
    # blocks
    "headings": ("<h1>One</h1><h2>Two <i>it</i></h2><h6>Six</h6>", "# One\n\n## Two *it*\n\n###### Six"),
    "headings on one line": ("<h2>\n a<br>b <p>c</p></h2><h3></h3>", "## a b c"),
    "a heading's link to itself": ("<h2>Title<a class=headerlink href='#t'>¶</a></h2>", "## Title"),
    "line breaks": ("<p>a<br>b<br></p>", "a  \nb"),
    "two line breaks part paragraphs": ("a<br><br>b", "a\n\nb"),
    "blocks of any name": ("<main>a<aside>b</aside><figure>c</figure></main>d", "a\n\nb\n\nc\n\nd"),
    "white space of the source": ("<p>\n  a   <b>b </b>\n\tc </p>\n\n <p>&nbsp;d</p>", "a **b** c\n\nd"),
    "rules": ("a<hr>b", "a\n\n---\n\nb"),
    "quotes in quotes": ("<blockquote>a<blockquote>b</blockquote>c</blockquote>", "> a\n>\n> > b\n>\n> c"),
    "code in a quote": ("<blockquote><pre>a\n\nb</pre></blockquote>", "> ```\n> a\n>\n> b\n> ```"),
    "details": ("<details><summary>S</summary>B</details>", "S\n\nB"),
    "definitions": ("<dl><dt>T<dd>one<dd><p>two</p><p>more</p></dl>", "T\n: one\n: two\n\n  more"),
    # inline
    "emphasis": ("<b>a</b> <em>b</em> <s>c</s> <b><i>d</i></b>", "**a** *b* ~~c~~ ***d***"),
    "emphasis inside words": ("un<b>believ</b>able", "un**believ**able"),
    "spaces go out of emphasis": ("a<b> b </b>c<i></i>d", "a **b** cd"),
    "emphasis in itself": ("<b>a <strong>b</strong></b>", "**a b**"),
    "neighbours of a kind are one": ("<b>a</b><b>b</b> <b>c</b>", "**ab** **c**"),
    "emphasis ending in punctuation": ("<b>注意：</b>请 <i>“a”</i>b", "**注意**：请 “*a*”b"),
    "emphasis that marks cannot show": ("<b><code>a</code></b>b", "<strong>`a`</strong>b"),
    "emphasis beside emphasis": ("<i>c</i><b>d</b>", "*c*<strong>d</strong>"),
    "emphasis around blocks": ("<b><p>a</p><p>b</p></b>", "a\n\nb"),
    "powers": ("10<sup>6</sup> H<sub>2</sub>O", "10<sup>6</sup> H<sub>2</sub>O"),
    "quotation": ("a <q>b</q>", 'a "b"'),
    "code with backticks": ("<code>a `b` c</code> <code>`</code>", "``a `b` c`` `` ` ``"),
    "markup in code": ("<code><b>g</b>(*x*)</code>", "`g(*x*)`"),
    # lists
    "nested lists": ("<ul><li>a<ol><li>b<ul><li>c</ul></ol><li>d</ul>", "- a\n  1. b\n     - c\n- d"),
    "numbers": (
        "<ol start=9><li>a<li><pre>x\n y</pre><li value=20>c</ol>",
        "9. a\n10. ```\n    x\n     y\n    ```\n20. c",
    ),
    "items of blocks": ("<ul><li><p>a</p><p>b</p><li><div>c</div></ul>", "- a\n\n  b\n- c"),
    "lists inside lists": ("<ul><li>a</li><ul><li>b</li></ul><li>c</ul>", "- a\n  - b\n- c"),
    "text in lists": ("<ul><li>a</li> loose <b>x</b><div><li>c</div></ul>", "- a\n- loose **x**\n- c"),
    "tasks": ("<ul><li><input type=checkbox checked> a<li><input type=checkbox>b</ul>", "- [x] a\n- [ ] b"),
    # tables
    "a table": ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
    "no heading row": ("<table><tr><td>1<td>2</table>", "|  |  |\n| --- | --- |\n| 1 | 2 |"),
    "pipes and blocks in cells": (
        "<table><tr><th>a<th>b<tr><td>x | <code>y||z</code><td><p>p</p><ul><li>q</ul>r<br>s</table>",
        "| a | b |\n| --- | --- |\n| x \\| `y\\|\\|z` | p<br>- q<br>r<br>s |",
    ),
    "headings and code in cells": (
        "<table><tr><th>a<td><h3>h</h3><pre>c\n  d</pre></table>",
        "|  |  |\n| --- | --- |\n| a | **h**<br>`c`<br>`d` |",
    ),
    "spans": (
        "<table><tr><th rowspan=2>a<th colspan=2>b<tr><td>c<td>d</table>",
        "| a | b |  |\n| --- | --- | --- |\n|  | c | d |",
    ),
    "captions and parts": (
        "<table><caption>C</caption><tfoot><tr><td>f</tfoot><tbody><tr><td>b</tbody><thead><tr><td>h</thead></table>",
        "C\n\n| h |\n| --- |\n| b |\n| f |",
    ),
    "layout": ("<table><tr><td><h2>T</h2><p>x</p></table>", "## T\n\nx"),
    "layout by nesting": ("<table><tr><td>a<td><table><tr><th>b<th>c</table></table>", "a\n\n| b | c |\n| --- | --- |"),
    "a lone row": ("<tr><td>a</td><td>b</td></tr>", "|  |  |\n| --- | --- |\n| a | b |"),
    # code
    "white space in code": ("<pre>\n  a\n\n\tb  c\n</pre>", "```\n  a\n\n\tb  c\n```"),
    "languages": (
        "<pre><code class='x language-py'>a</code></pre><pre data-lang=rust>b</pre><pre class='brush: php; x'>c</pre>",
        "```py\na\n```\n\n```rust\nb\n```\n\n```php\nc\n```",
    ),
    "languages of highlighters": (
        "<div class=highlight-source-shell><pre>a</pre></div><pre><code class='hljs css'>b</code></pre>",
        "```shell\na\n```\n\n```css\nb\n```",
    ),
    "a fence in code": ("<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"),
    "lines of code": ("<pre><div>a</div><div>b</div>c<br>d &lt; e</pre>", "```\na\nb\nc\nd < e\n```"),
    "line numbers and buttons": (
        "<table><tr><td class=linenos><pre>1\n2</pre><td><pre><button>Copy</button>a\n<i class=ln>2</i>b</pre></table>",
        "```\na\nb\n```",
    ),
    # links and images
    "links": ("<a href='n?a=1&b=2'>r</a> <a href='//c.test/x'>p</a> <a href='#f'>f</a>",
              f"[r](https://site.test/dir/n?a=1&b=2) [p](https://c.test/x) [f]({PAGE}#f)"),
    "base": ("<base href='/lib/'><a href=x>l</a><img src=i.png alt=i>", "[l](https://site.test/lib/x)![i](https://site.test/lib/i.png)"),
    "dead links": ("a <a href='javascript:x()'>b</a> <a name=n>c</a> <a href='/x'></a>d", "a b c d"),
    "odd addresses": ("<a href='https://e.test/a_(b)'>p</a>", "[p](<https://e.test/a_(b)>)"),
    "brackets in links": ("<a href='https://e.test/'>[a] b]</a>", r"[\[a\] b\]](https://e.test/)"),
    "addresses as text": ("<a href='https://e.test/a'>https://e.test/a</a>", "<https://e.test/a>"),
    "links around blocks": (
        "<a href='https://e.test/p'><img src='/i.png' alt=i><h3>T</h3><p>s</p></a>",
        "![i](https://site.test/i.png)\n\n### [T](https://e.test/p)\n\ns",
    ),
    "a mark before a link": ("Wow!<a href='https://e.test/'>a</a>", r"Wow\![a](https://e.test/)"),
    "images": ("<img src=/a.png alt='a [b]' title=T>", r'![a \[b\]](https://site.test/a.png "T")'),
    "lazy images": ("<img src='data:image/gif;base64,R0' data-src=/r.jpg alt=r>", "![r](https://site.test/r.jpg)"),
    "sets of images": ("<img srcset='/s.jpg 400w, /l.jpg 1200w' alt=x>", "![x](https://site.test/l.jpg)"),
    "pictures": ("<picture><source srcset='/b.webp 2x'><img alt=b></picture>", "![b](https://site.test/b.webp)"),
    "pictures without an address": ("a <img alt=star> b<img>", "a star b"),
    "figures": ("<figure><img src=/f.png alt=F><figcaption>Cap</figcaption></figure>", "![F](https://site.test/f.png)\n\nCap"),
    # formulas
    "MathML": ("<math><mi>x</mi><annotation encoding='application/x-tex'>x^2</annotation></math>", "$x^2$"),
    "formulas of their own": (
        "a<math display=block><annotation encoding='application/x-tex'>\\sum_i\n x</annotation></math>b",
        "a\n\n$$\n\\sum_i x\n$$\n\nb",
    ),
    "MathJax": ("a <script type='math/tex'>a_1 < b</script>.", "a $a_1 < b$."),
    # escapes
    "marks in text": (r"*a* _b_ `c` [d](e) ~~f~~ \* g\h", r"\*a\* \_b\_ \`c\` \[d](e) \~\~f\~\~ \\\* g\h"),
    "no needless escapes": ("snake_case [1] a - b 2) x > y & 1.5 # #x", "snake_case [1] a - b 2) x > y & 1.5 # #x"),
    "HTML in text": ("&lt;b&gt; a &lt; b &amp;lt; AT&amp;T", r"\<b> a < b \&lt; AT&T"),
    "line starts": (
        "<p># a<p>1. b<p>- c<p>&gt; d<p>+ e<p>===<p>f<br>- g",
        "\\# a\n\n1\\. b\n\n\\- c\n\n\\> d\n\n\\+ e\n\n\\===\n\nf  \n\\- g",
    ),
    # what is left out
    "junk": ("a<style>x</style><script>y</script><template>z</template><!-- c --><noscript>n</noscript><svg/>", "a"),
    "hidden": ("a <p hidden>b</p><p style='color:red; display: none'>c</p><dialog>d</dialog>e", "a e"),
    "fields": ("<select><option>a<option selected>b</select><textarea>c</textarea><button>d</button>", "b c d"),
    "nothing": ("", ""),
}  # fmt: skip


@pytest.mark.parametrize(("html", "expected"), CASES.values(), ids=CASES.keys())
def test_markdown(html: str, expected: str) -> None:
    """Each kind of HTML becomes the Markdown that renders as it does."""
    assert to_markdown(html, PAGE) == expected


@pytest.mark.parametrize("tag", ["div", "b", "span", "blockquote", "ul><li", "table><tr><td", "a href=x"])
def test_depth(tag: str) -> None:
    """Nesting of any depth is flattened, not refused, and its text is kept."""
    assert "bottom" in to_markdown(f"<{tag}>" * 5000 + "bottom", PAGE)


@pytest.mark.parametrize(
    "html",
    [
        "\ud800 lone",
        "a\x00b",
        "<" * 1000,
        "<table><td colspan=99999999999 rowspan=-1>x<tr><td rowspan=9999>y</table>",
        "<ol start=x><li value=-3>a</ol>",
        "<a href='http://[bad'>x</a><img src='http://[bad'>",
        "<p>\u3000</p><b>\u3000</b>",
        "</p></table><td><li><dd><option>",
    ],
)
def test_odd_input(html: str) -> None:
    """Nothing that is not HTML, or hardly, raises."""
    assert isinstance(to_markdown(html, "not an address"), str)


LONG = 100_000


@pytest.mark.parametrize(
    "html",
    [
        f"<p>a<b>{'.' * LONG}x.</b>b",
        "<p>" + "[a" * LONG + "]",
        "<p>" + "_" * LONG,
        f"<pre>{' ' * LONG}x{' ' * LONG}</pre>",
        f"<table><tr><th>a<td><pre>a{' ' * LONG}x</pre></table>",
        f"<img src='' srcset='{',' * LONG}'>",
        f"<p style='{' ' * LONG}x'>a",
        "<ul>" + "<ul><li>a</ul>" * 5000,
        "<table>" + "<tr><td>a<td>b" * 5000 + "</table>",
    ],
    ids=lambda html: html[:12],
)
@pytest.mark.timeout(20)
def test_repetition(html: str) -> None:
    """No input of this size makes the time grow with its square."""
    to_markdown(html, PAGE)


def test_text_instead_of_nothing() -> None:
    """Where Markdown comes out empty though there is text, the text is given."""
    assert to_markdown("<p hidden>all of it</p>", PAGE) == "all of it"


def test_text_where_the_stack_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller deep in its own recursion gets the text."""

    def overflow(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr(markdown, "build", overflow)
    assert to_markdown("<p>a</p><p>b</p>", PAGE) == "a\nb"
