"""What kind a document is, and reading those that are no web pages."""

import contextlib
import io
import time
import zipfile
from typing import Any

import pytest
from pypdf import PdfReader, PdfWriter

from fetch.documents import kind_of, read_document
from fetch.errors import UnsupportedContent
from fetch.page import Format, Page, Reading, Wish

URL = "http://news.example/feeds/feed"


def page(body: bytes | str, content_type: str = "", *, url: str = URL, **given: Any) -> Page:
    return Page(url, "http", 200, content_type, body=body.encode() if isinstance(body, str) else body, **given)


def read(body: bytes | str, content_type: str, form: Format = "text", **given: Any) -> Reading:
    return read_document(page(body, content_type, **given), Wish(format=form))


def zipped() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("a.txt", "a")
    return target.getvalue()


def pdf(*pages: str, title: str = "") -> bytes:
    """A PDF with these pages in Helvetica."""
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(len(pages)))
    objects = ["<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>"]
    font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
    for number, text in enumerate(pages):
        stream = f"BT /F 12 Tf 20 100 Td ({text}) Tj ET" if text else ""
        resources = f"/MediaBox[0 0 400 200]/Resources<</Font<</F {font}>>>>"
        objects.append(f"<</Type/Page/Parent 2 0 R{resources}/Contents {4 + 2 * number} 0 R>>")
        objects.append(f"<</Length {len(stream)}>>stream\n{stream}\nendstream")
    body = "%PDF-1.4\n" + "".join(f"{number} 0 obj{each}endobj\n" for number, each in enumerate(objects, 1))
    about = f"/Info<</Title({title})/Author(A. Author)/CreationDate(D:20240501120000Z)>>" if title else ""
    return f"{body}trailer<</Root 1 0 R/Size {len(objects) + 1}{about}>>\nstartxref\n0\n%%EOF".encode()


def encrypted(password: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf("A secret."))))
    writer.encrypt(password, owner_password="owner", algorithm="RC4-128")
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)
RSS = """<?xml version="1.0" encoding="utf-8"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:media="http://search.yahoo.com/mrss/"><channel>
<title>Harbour &amp; sea</title><link>/home</link><description>All news</description>
<item><title>Tide &amp; wind&nbsp;today</title><link>a1</link><dc:creator>Ann</dc:creator>
<pubDate>Wed, 01 May 2024 12:00:00 GMT</pubDate><media:title>other</media:title>
<description><![CDATA[<p>Gusts above <b>nine</b> knots</p>]]></description></item>
<item><title>No link</title><guid>http://news.example/guid</guid><description>Plain</description></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://b.example/"><title>Atom</title>
<link rel="self" href="self"/><link href="home"/><entry><title type="html">One &lt;i&gt;two&lt;/i&gt;</title>
<link rel="edit" href="edit"/><link rel="alternate" href="one"/><author><name>Bob</name></author>
<updated>2024-05-01T12:00:00Z</updated><content type="xhtml">
<div xmlns="http://www.w3.org/1999/xhtml">Hello <em>you</em></div></content></entry></feed>"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel rdf:about="http://x.example/"><title>Old</title><link>http://x.example/</link></channel>
<item rdf:about="1"><title>First</title><link>http://x.example/1</link></item></rdf:RDF>"""
JSON_FEED = """{"version": "https://jsonfeed.org/version/1.1", "title": "J", "items": [{"id": "1", "url": "/j1",
 "title": "First", "content_html": "<p>Hello</p>",
 "date_published": "2024-05-01T00:00:00Z", "authors": [{"name": "C"}]}, 7]}"""


@pytest.mark.parametrize(
    ("body", "content_type", "kind"),
    [
        (b"<p>x", "text/html", "html"),
        (b"", "", "html"),
        (b"  <!DOCTYPE html><p>x", "", "html"),
        (b"<!-- x --><p>", "application/octet-stream", "html"),
        (b"<html>", "text/plain", "text"),
        (b"<html>", "application/xhtml+xml", "html"),
        (b'<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml">', "text/xml", "html"),
        (b"%PDF-1.7 x", "application/octet-stream", "pdf"),
        (b"%PDF-1.7 x", "", "pdf"),
        (b"\n%PDF-1.7 x", "application/pdf", "pdf"),
        (b"%PDF-1.7 x", "text/plain", "text"),
        (b"<html>Log in", "application/pdf", "html"),
        (b'{"a": 1}', "application/json", "json"),
        (b'{"a": 1}', "application/vnd.api+json", "json"),
        (b'{"a": 1}', "", "json"),
        (b'{"a": 1}', "text/html", "json"),
        (b"{not json} <p>", "text/html", "html"),
        (b'{"a": 1}', "text/plain", "text"),
        (b"<a/>", "application/xml", "xml"),
        (b"<a/>", "application/atom+xml", "xml"),
        (b"<?xml version='1.0'?><urlset/>", "", "xml"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml", "xml"),
        (RSS.encode(), "text/xml", "feed"),
        (RSS.encode(), "text/html", "feed"),
        (RSS.encode("utf-16"), "text/xml", "feed"),
        (b"<!-- x --><?xml-stylesheet x?><rss/>", "application/xml", "feed"),
        (ATOM.encode(), "application/octet-stream", "feed"),
        (RDF.encode(), "application/rdf+xml", "feed"),
        (b"<feed xmlns='urn:other'/>", "text/xml", "xml"),
        (JSON_FEED.encode(), "application/json", "feed"),
        (b"a,b", "text/csv", "csv"),
        (b"a,b", "application/vnd.ms-excel", "csv"),
        (b"body {}", "text/css", "text"),
        (b"a: 1", "application/yaml", "text"),
        (b"\x1b[31mred\x1b[0m log", "text/plain", "text"),
        ("text".encode("utf-16"), "text/plain", "text"),
        (b"words only", "application/octet-stream", "text"),
        (b"export const a = 1;", "video/mp2t", "text"),
        (PNG, "image/png", "binary"),
        (PNG, "text/plain", "binary"),
        (PNG, "text/html", "binary"),
        (b"%PDF-1.7 x", "text/html", "pdf"),
        (PNG, "", "binary"),
        (zipped(), "application/octet-stream", "binary"),
        (bytes(range(256)), "text/plain", "binary"),
        (b"", "image/png", "binary"),
        (b"GIF89a", "image/gif", "binary"),
    ],
)
def test_type_and_bytes_tell_the_kind(body: bytes, content_type: str, kind: str) -> None:
    """Types that say something are believed, the others are found out, as browsers do."""
    assert kind_of(page(body, content_type)) == kind


@pytest.mark.parametrize(
    ("name", "kind"), [("export.csv", "csv"), ("data.json", "json"), ("notes.txt", "text"), ("ren%C3%A9.tsv", "csv")]
)
def test_a_download_is_taken_at_its_name(name: str, kind: str) -> None:
    """An attachment of text is read by the name that it comes under."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    assert kind_of(page(b"[1,2]", "application/octet-stream", headers=headers)) == kind


def test_what_a_browser_rendered_is_html() -> None:
    """A page with a document is HTML, whatever its type."""
    assert kind_of(page(b"", "application/json", html="<pre>")) == "html"


@pytest.mark.parametrize(
    "body",
    ["four    spaces\n\ta && b <vector<int>>\r\n", "WEBVTT\n\n00:01.000 --> 00:02.000\nHi", "# Title\n\n* x  \n"],
)
def test_text_is_given_as_it_is(body: str) -> None:
    """Plain text of any sort is not touched."""
    reading = read(body, "text/plain")
    assert (reading.content, reading.charset, reading.characters) == (body, "UTF-8", len(body))


def test_csv_in_another_encoding() -> None:
    """CSV is decoded and otherwise as it came, under the name it came by."""
    headers = {"content-disposition": "attachment; filename*=UTF-8''%E6%B8%AF.csv"}
    reading = read("harbour,depth\r\n北港,4.5\r\n".encode("gbk"), "text/csv", charset="gbk", headers=headers)
    assert (reading.content, reading.title) == ("harbour,depth\r\n北港,4.5\r\n", "港.csv")


def test_json_is_indented_and_nothing_else() -> None:
    """Order, repeated keys, long numbers and zeros stay; escaped letters are written out."""
    body = r'{"b":12345678901234567890,"a":[1.10,1e999,{}],"b":"\u6e21<b>&\n\ud83d\ude00","c":[],"d":"\ud800"}'
    assert read(body, "application/json").content == (
        '{\n  "b": 12345678901234567890,\n  "a": [\n    1.10,\n    1e999,\n    {}\n  ],\n'
        '  "b": "渡<b>&\\n😀",\n  "c": [],\n  "d": "\\ud800"\n}'
    )


@pytest.mark.parametrize("body", ["{oops", "[NaN]", '{"a": 1} x', "[" * 100_000, "\ufeff"])
def test_json_that_is_none_is_given_as_it_is(body: str) -> None:
    """Broken JSON is neither dropped nor repaired; a warning tells."""
    reading = read(body, "application/json")
    assert reading.content == body.removeprefix("\ufeff")
    assert "not valid" in reading.warnings[-1]


@pytest.mark.parametrize(
    "body", ['cb({"a":1});', '/**/ a.b["c"]({"a":1})', ')]}\',\n{"a":1}', 'for(;;);{"a":1}', '\ufeff{"a":1}']
)
def test_json_for_scripts_is_unwrapped(body: str) -> None:
    """Callbacks and guards around JSON are taken off; nothing is run."""
    assert read(body, "application/json").content == '{\n  "a": 1\n}'


def test_lines_of_json_stay_lines() -> None:
    """NDJSON keeps one record a line."""
    assert read('{"a":"\\u6e21"}\n\n{"a": 2}\n', "application/x-ndjson").content == '{"a":"渡"}\n{"a": 2}'


def test_deep_json_is_bounded() -> None:
    """Indentation does not make a document many times as long."""
    body = '{"a":' * 300 + "[" + "1," * 300_000 + "1]" + "}" * 300
    assert len(read(body, "application/json").content) < 30 * len(body)


def bomb(size: int) -> str:
    return '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "{}"><!ENTITY c SYSTEM "file:///etc/passwd">]>'.format("&a;" * size)


def test_xml_is_given_as_it_is() -> None:
    """XML is not expanded, loaded or changed."""
    body = f"{bomb(10_000)}<a>{'&b;' * 1000}&c;</a>"
    assert read(body, "application/xml").content == body


def test_entities_of_a_feed_are_not_expanded() -> None:
    """A bomb and a file in a feed come to nothing."""
    body = f"{bomb(1000)}<rss><channel><title>T</title><item><title>x{'&b;' * 1000}&c;</title></item></channel></rss>"
    reading = read(body, "application/rss+xml")
    assert len(reading.content) < 10_000
    assert "root:" not in reading.content


def test_rss_is_a_list() -> None:
    """Title, address, date, author and summary of each entry, as text."""
    reading = read(RSS, "application/rss+xml")
    assert reading.content == (
        "Harbour & sea\nhttp://news.example/home\nAll news\n\nTide & wind today\nhttp://news.example/feeds/a1\n"
        "2024-05-01T12:00:00+00:00 · Ann\nGusts above nine knots\n\nNo link\nhttp://news.example/guid\nPlain"
    )
    assert (reading.title, [link.text for link in reading.links]) == ("Harbour & sea", ["Tide & wind today", "No link"])


def test_rss_as_markdown() -> None:
    """In Markdown the titles are headings that lead to the pages, and summaries keep their emphasis."""
    content = read(RSS, "application/rss+xml", "markdown").content
    assert "# Harbour & sea" in content
    assert "## [Tide & wind today](<http://news.example/feeds/a1>)" in content
    assert "Gusts above **nine** knots" in content


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            ATOM,
            "Atom\nhttp://b.example/home\n\nOne two\nhttp://b.example/one\n2024-05-01T12:00:00+00:00 · Bob\nHello you",
        ),
        (RDF, "Old\nhttp://x.example/\n\nFirst\nhttp://x.example/1"),
        (JSON_FEED, "J\n\nFirst\nhttp://news.example/j1\n2024-05-01T00:00:00+00:00 · C\nHello"),
        ("<rss><channel><title>Cut</title><item><title>One</title><descr", "Cut\n\nOne"),
    ],
    ids=["atom", "rss 1.0", "json", "cut"],
)
def test_all_feeds_are_lists(body: str, expected: str) -> None:
    """The other formats, and a feed that was cut, give the same list."""
    content_type = "application/json" if body.startswith("{") else "text/xml"
    assert read(body, content_type).content == expected


def test_a_feed_that_cannot_be_read_is_given_as_it_is() -> None:
    """What only claims to be a feed is text."""
    reading = read('{"version": "https://jsonfeed.org/version/1"', "application/feed+json")
    assert reading.content.startswith("{")
    assert "feed" in reading.warnings[-1]


def test_pdf_is_text_with_marks() -> None:
    """Each page of a PDF stands below its mark; title, author and date are in the metadata."""
    reading = read(pdf("First page.", "", "Third page.", title="A report"), "application/pdf")
    assert reading.content == "--- page 1 ---\n\nFirst page.\n\n--- page 2 ---\n\n--- page 3 ---\n\nThird page."
    assert (reading.title, reading.metadata.author) == ("A report", "A. Author")
    assert (reading.metadata.published or "").startswith("2024-05-01T12:00")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (pdf("", ""), "scanned"),
        (encrypted("secret"), "password"),
        (b"%PDF-1.4\n1 0 obj<</Type/Catalog", "broken"),
        (b"%PDF-1.4" + b"\xff" * 1000, "broken"),
    ],
    ids=["scanned", "encrypted", "cut", "garbage"],
)
def test_pdf_without_text_says_why(body: bytes, said: str) -> None:
    """A PDF that gives no text succeeds with a warning that explains it."""
    reading = read(body, "application/pdf")
    assert reading.content == ""
    assert said in reading.warnings[0]


def test_pdf_without_a_password_is_read() -> None:
    """Encryption that only restricts printing is no obstacle."""
    assert "A secret." in read(encrypted(""), "application/pdf").content


def test_pdf_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long PDF is read as far as the limit, and says so."""
    monkeypatch.setattr("fetch.pdf.MAX_PAGES", 2)
    reading = read(pdf("One.", "Two.", "Three."), "application/pdf")
    assert "Three" not in reading.content
    assert "first 2 of 3 pages" in reading.warnings[0]


@pytest.mark.parametrize(
    ("body", "content_type", "said"),
    [
        (PNG, "image/png", "image/png (108 bytes)"),
        (PNG, "application/octet-stream", "image/png"),
        (zipped() + bytes(3000), "application/zip", "application/zip (3.0 KiB)"),
        (bytes(100), "", "binary data (100 bytes)"),
    ],
)
def test_what_has_no_text_is_refused(body: bytes, content_type: str, said: str) -> None:
    """The refusal names type and size and the way to the bytes."""
    with pytest.raises(UnsupportedContent) as caught:
        read(body, content_type)
    assert said in caught.value.detail
    assert "open it in a session to download it" in caught.value.detail


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/rss+xml", "text/csv", "application/pdf", "text/xml"]
)
@pytest.mark.parametrize(
    "body",
    [
        b"%PDF-" + b"[" * 10**6,
        b"<rss>" * 100_000,
        b"<rss a='" * 100_000,
        b"\xff\xfe" + b"\xd8" * 99_999,
        b'"' * 10**6,
        b"{" * 10**6,
    ],
)
def test_hostile_documents_end(body: bytes, content_type: str) -> None:
    """Whatever is sent under whatever type, reading it ends soon, with a reading or a refusal."""
    before = time.monotonic()
    with contextlib.suppress(UnsupportedContent):
        read(body, content_type).content.encode()
    assert time.monotonic() - before < 20
