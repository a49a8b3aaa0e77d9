"""Bytes to text: the order of browsers, their labels, and what nobody declared."""

import codecs

import pytest

from fetch.charset import decode, prescan
from fetch.charset_labels import decode_as, name_of

# Short sentences of real languages in the encodings they were written in.
UNDECLARED = [
    ("gbk", "今天天气很好，我们一起去公园玩。"),
    ("gbk", "你好，世界"),
    ("gbk", "欢迎光临"),
    ("gbk", "联通"),
    ("gb18030", "人民日报记者报道：近年来，我国科技创新能力显著提升𠀀。"),
    ("big5", "今天天氣很好，我們一起去公園玩。"),
    ("big5", "你好，世界"),
    ("big5", "歡迎光臨"),
    ("shift_jis", "吾輩は猫である。名前はまだ無い。"),
    ("shift_jis", "ニュース"),
    ("euc_jp", "東京都は今日、新しい計画を発表しました。"),
    ("iso2022_jp", "吾輩は猫である。名前はまだ無い。"),
    ("euc_kr", "안녕하세요, 세계"),
    ("euc_kr", "대한민국의 수도는 서울이다."),
    ("cp1251", "Привет, мир!"),
    ("koi8_r", "Сегодня хорошая погода, и мы пошли гулять в парк."),
    ("cp1252", "Müller fährt über die Straße."),
    ("cp1252", "El niño comió mañana por la tarde."),
    ("cp1252", "“Hello” – it’s a dog’s life"),
    ("cp1252", "Café"),
    ("cp1250", "Příliš žluťoučký kůň úpěl ďábelské ódy."),
    ("cp1250", "Dziś jest piękna pogoda, więc poszliśmy do parku."),
    ("cp1253", "Καλημέρα κόσμε, σήμερα έχει ωραίο καιρό."),
    ("cp1254", "Bugün hava çok güzel, bu yüzden parka gittik. İstanbul’da yaşıyorum."),
    ("cp1255", "שלום עולם, היום מזג האוויר יפה מאוד."),
    ("cp1256", "مرحبا بالعالم، الطقس اليوم جميل جدا."),
    ("cp874", "สวัสดีชาวโลก วันนี้อากาศดีมาก"),
    ("utf-8", "今天天气很好。Přílíš"),
    ("utf-16-le", "Hello wörld without a mark"),
]


@pytest.mark.parametrize(("codec", "text"), UNDECLARED)
def test_what_nobody_declared_is_recognised(codec: str, text: str) -> None:
    """A short sentence in any common encoding is read right without a declaration, alone and within a page."""
    html = f'<html><head><title>{text}</title></head><body><p class="x">{text}</p></body></html>'
    assert decode(text.encode(codec), None)[0] == text
    assert decode(html.encode(codec), None)[0] == html


@pytest.mark.parametrize(
    ("mark", "codec"),
    [(codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")],
)
def test_a_mark_beats_all(mark: bytes, codec: str) -> None:
    """A byte-order mark decides, whatever header and document say, and is no part of the text."""
    assert decode(mark + "<meta charset=big5>渡口".encode(codec), "gbk")[0] == "<meta charset=big5>渡口"


def test_the_header_beats_the_document() -> None:
    """Where header and `<meta>` differ and both are possible, the header is followed."""
    assert decode("<meta charset=windows-1252>Москва".encode("cp1251"), "windows-1251")[:2] == (
        "<meta charset=windows-1252>Москва",
        "windows-1251",
    )


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("GB2312", "gb18030"),
        (" gbk ", "gb18030"),
        ("ISO-8859-1", "windows-1252"),
        ("us-ascii", "windows-1252"),
        ("latin5", "windows-1254"),
        ("Shift_JIS", "Shift_JIS"),
        ("x-sjis", "Shift_JIS"),
        ("ks_c_5601-1987", "EUC-KR"),
        ("big5-hkscs", "Big5"),
        ("iso_8859-15", "ISO-8859-15"),
        ("utf-16", "UTF-16LE"),
        ("utf-7", None),
        ("iso-2022-kr", None),
        ("x-nonsense", None),
    ],
)
def test_labels_mean_what_browsers_take_them_for(label: str, name: str | None) -> None:
    """Labels are those of the WHATWG standard; UTF-7 and the unsafe ones are not known."""
    assert name_of(label) == name


@pytest.mark.parametrize(
    ("name", "body", "text"),
    [
        ("gb18030", b"\x80 \x81\x30\x81\x30 \xd6\xec\xe9\x46", "€ \x80 朱镕"),
        ("Shift_JIS", b"\x87\x40\xfa\xb1\x5c", "①\ufa11\\"),
        ("EUC-KR", b"\x8c\x63\xb0\xa1", "똠가"),
        ("Big5", b"\xa1\x45\xa3\xe1\x87\x40", "‧€䏰"),
        ("EUC-JP", b"\xad\xa1\xad\xea\xc6\xfc", "①㈱日"),
        ("windows-1252", b"\x81\x93\xe9", "\x81“é"),
        ("x-user-defined", b"a\x80", "a\uf780"),
        ("macintosh", b"\x8e", "é"),
    ],
)
def test_bytes_mean_what_browsers_take_them_for(name: str, body: bytes, text: str) -> None:
    """Vendors' characters and unused places of the tables decode as in browsers."""
    assert decode_as(body, name) == (text, 0)


@pytest.mark.parametrize(
    ("start", "name"),
    [
        (b"<meta charset=gbk>", "gb18030"),
        (b"<META CHARSET = 'Big5' />", "Big5"),
        (b'<meta http-equiv="Content-Type" content="text/html; charset=euc-kr">', "EUC-KR"),
        (b'<meta content="text/html;charset=euc-kr" http-equiv=content-type>', "EUC-KR"),
        (b'<meta content="text/html; charset=euc-kr">', None),
        (b"<!-- <meta charset=gbk> --><meta charset=big5>", "Big5"),
        (b"<!--><meta charset=gbk>", "gb18030"),
        (b"<!-- <meta charset=gbk>", None),
        (b'<a title="<meta charset=gbk>">', None),
        (b"<metal charset=gbk>", None),
        (b"<meta charset=utf-16>", "UTF-8"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<meta charset=x-nonsense><meta charset=koi8-r>", "KOI8-R"),
        (b'<?xml version="1.0" encoding="EUC-JP"?>', "EUC-JP"),
        ('<?xml version="1.0"?>'.encode("utf-16-le"), "UTF-16LE"),
        (b"<meta " + b"x=\"'" * 5000, None),
        (b"", None),
    ],
)
def test_the_document_may_declare_it(start: bytes, name: str | None) -> None:
    """The prescan follows the standard: comments, attributes and other elements do not mislead it."""
    assert prescan(start) == name


def test_a_late_declaration_counts_when_nothing_else_does() -> None:
    """A `<meta>` far down in the head is found; one in the body is not."""
    start = b"<head><!--" + b"x" * 6000 + b"-->"
    body = "안".encode("euc-kr")
    assert decode(start + b"<meta charset=euc-kr></head>" + body, None)[:2][1] == "EUC-KR"
    assert decode(start + b"</head><meta charset=koi8-u>" + body, None)[1] != "KOI8-U"


@pytest.mark.parametrize("declared", ["gbk", "iso-8859-1", "shift_jis", "euc-kr", "utf-16", "koi8-r"])
def test_a_false_declaration_gives_way_to_utf_8(declared: str) -> None:
    """UTF-8 is read as such whatever the server says, and a warning tells."""
    text, name, warnings = decode("<p>渡口将于周三清晨重新开放</p>".encode(), declared)
    assert (text, name) == ("<p>渡口将于周三清晨重新开放</p>", "UTF-8")
    assert "does not fit" in warnings[0]


def test_a_false_utf_8_gives_way_to_what_it_is() -> None:
    """GBK that is declared as UTF-8 is read as GBK, by the `<meta>` or by recognition."""
    assert decode("<meta charset=gbk>渡口".encode("gbk"), "utf-8")[0] == "<meta charset=gbk>渡口"
    assert decode("<title>中文</title><p>汉字测试".encode("gbk"), "utf-8")[:2] == (
        "<title>中文</title><p>汉字测试",
        "gb18030",
    )


def test_an_unknown_label_is_passed_over() -> None:
    """A nonsense charset is told of and does no harm."""
    text, name, warnings = decode("<p>héllo 汉字".encode(), "x-nonsense")
    assert (text, name) == ("<p>héllo 汉字", "UTF-8")
    assert "x-nonsense" in warnings[0]


@pytest.mark.parametrize(("codec", "label"), [("utf-8", "utf-8"), ("utf-8", None), ("gbk", "gbk"), ("big5", "big5")])
def test_a_character_that_is_cut_is_dropped(codec: str, label: str | None) -> None:
    """A body that ends inside a character keeps its encoding and all whole characters."""
    assert decode(("渡口" * 50).encode(codec)[:-1], label) == ("渡口" * 49 + "渡", decode(b"", label)[1], ())


def test_few_broken_places_change_nothing() -> None:
    """A page of UTF-8 with a bad byte stays UTF-8; the place becomes U+FFFD and is told of."""
    text, name, warnings = decode("正常文字很多".encode() + b"\xff<p>" + "正常".encode(), None)
    assert (text, name) == ("正常文字很多\ufffd<p>正常", "UTF-8")
    assert "1 places" in warnings[0]


def test_a_bad_byte_does_not_swallow_the_tag_behind_it() -> None:
    """An ASCII byte after half a character is kept, as it may begin a tag."""
    assert decode("渡口渡口渡口渡口渡口渡口".encode("gbk") * 3 + b"\x81<p>", "gbk")[0].endswith("\ufffd<p>")


@pytest.mark.parametrize("body", [b"", b"\x00" * 5000, bytes(range(256)) * 40, b"<" * 100_000, b"\x80" * 100_000])
@pytest.mark.parametrize("declared", [None, "utf-8", "gbk", "utf-16", "iso-2022-jp", "x" * 1000, "\ud800"])
def test_nothing_makes_it_fail(body: bytes, declared: str | None) -> None:
    """Whatever the bytes and the label, there is a text without lone surrogates."""
    decode(body, declared)[0].encode()


def test_plain_text_declares_nothing() -> None:
    """Where the body is no markup, a `<meta>` that it quotes is no declaration."""
    body = "Write <meta charset=big5>, 渡".encode()
    assert decode(body, None, markup=False)[1] == "UTF-8"
