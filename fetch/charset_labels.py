"""Character encodings as browsers know them: the labels that pages use and the bytes they stand for.

Names, labels and mappings are those of https://encoding.spec.whatwg.org/, with two simplifications: GBK is gb18030 (the
same decoder), and the labels that the standard maps to its "replacement" encoding (HZ, ISO-2022-KR, ISO-2022-CN) are
unknown. UTF-7 has no label, on purpose: it hides markup from filters.
"""

import codecs
from types import MappingProxyType

UTF8 = "UTF-8"

_LABELS = {
    UTF8: "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
    "IBM866": "866 cp866 csibm866 ibm866",
    "ISO-8859-2": "csisolatin2 iso-ir-101 l2 latin2 iso_8859-2:1987",
    "ISO-8859-3": "csisolatin3 iso-ir-109 l3 latin3 iso_8859-3:1988",
    "ISO-8859-4": "csisolatin4 iso-ir-110 l4 latin4 iso_8859-4:1988",
    "ISO-8859-5": "csisolatincyrillic cyrillic iso-ir-144 iso_8859-5:1988",
    "ISO-8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e"
    " iso-8859-6-i iso-ir-127 iso_8859-6:1987",
    "ISO-8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso_8859-7:1987 sun_eu_greek",
    "ISO-8859-8": "csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso_8859-8:1988 visual",
    "ISO-8859-8-I": "csiso88598i iso-8859-8-i logical",
    "ISO-8859-10": "csisolatin6 iso-ir-157 l6 latin6",
    "ISO-8859-13": "",
    "ISO-8859-14": "",
    "ISO-8859-15": "csisolatin9 l9",
    "ISO-8859-16": "",
    "KOI8-R": "cskoi8r koi koi8 koi8-r koi8_r",
    "KOI8-U": "koi8-ru koi8-u",
    "macintosh": "csmacintosh mac macintosh x-mac-roman",
    "windows-874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "windows-1250": "cp1250 windows-1250 x-cp1250",
    "windows-1251": "cp1251 windows-1251 x-cp1251",
    "windows-1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591"
    " iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252",
    "windows-1253": "cp1253 windows-1253 x-cp1253",
    "windows-1254": "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5"
    " windows-1254 x-cp1254",
    "windows-1255": "cp1255 windows-1255 x-cp1255",
    "windows-1256": "cp1256 windows-1256 x-cp1256",
    "windows-1257": "cp1257 windows-1257 x-cp1257",
    "windows-1258": "cp1258 windows-1258 x-cp1258",
    "x-mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gb18030": "gb18030 chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk",
    "Big5": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "EUC-JP": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "ISO-2022-JP": "csiso2022jp iso-2022-jp",
    "Shift_JIS": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "EUC-KR": "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601"
    " windows-949",
    "UTF-16BE": "unicodefffe utf-16be",
    "UTF-16LE": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
    "x-user-defined": "x-user-defined",
}
_SPELLINGS = ("iso-8859-{}", "iso8859-{}", "iso8859{}", "iso_8859-{}")

_CODECS = {  # Python's names where they are not the standard's
    "ISO-8859-8-I": "iso-8859-8",
    "macintosh": "mac-roman",
    "ISO-2022-JP": "iso2022_jp_ext",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac-cyrillic",
    "Big5": "big5hkscs",
    "Shift_JIS": "cp932",
    "EUC-KR": "cp949",
}

# Python's Big5-HKSCS and the standard's differ in four punctuation marks, among them the dot within foreign names.
_BIG5_MARKS = (("\u2022", "\u2027"), ("\uff64", "\ufe51"), ("\u223c", "\uff5e"), ("\u203e", "\xaf"))
_USER_DEFINED = "".join(map(chr, [*range(0x80), *range(0xF780, 0xF800)]))
_SAMPLE = 65536
_ERRORS = "tabwright.whatwg"
_BIG5_EURO = b"\xa3\xe1"


def _by_label() -> dict[str, str]:
    names = {label: name for name, labels in _LABELS.items() for label in labels.split()}
    for name in _LABELS:
        if name.startswith("ISO-8859-") and name != "ISO-8859-8-I":
            names.update({spelling.format(name.removeprefix("ISO-8859-")): name for spelling in _SPELLINGS})
    return names


_NAMES = MappingProxyType(_by_label())


def name_of(label: str) -> str | None:
    """The encoding that a label means, None for one that browsers do not know."""
    return _NAMES.get(label.strip("\t\n\f\r \"'").lower())


def decode_as(body: bytes, name: str) -> tuple[str, int]:
    """The text of these bytes in the encoding of this name, and how many places did not decode (they are U+FFFD).

    A character that the end of the bytes cuts in two is dropped and not counted.
    """
    if name == "x-user-defined":
        return codecs.charmap_decode(body, "strict", _USER_DEFINED)[0], 0
    codec = _CODECS.get(name, name)
    try:
        text, faulty = _decode(body, codec, "strict"), False
    except UnicodeDecodeError as fault:
        text, faulty = _decode(body, codec, _policy(body, codec, fault.start)), True
    if name == "Big5":
        for python, standard in _BIG5_MARKS:
            text = text.replace(python, standard)
    faults = text.count("\ufffd") if faulty else 0
    if faults and name == UTF8:
        faults -= body.count(b"\xef\xbf\xbd")  # it was in the page
    return text, faults


def _decode(body: bytes, codec: str, errors: str) -> str:
    return codecs.getincrementaldecoder(codec)(errors).decode(body)


def _policy(body: bytes, codec: str, at: int) -> str:
    """How to go on after the first fault: as the standard does, unless so much is wrong that this takes too long."""
    if codec == UTF8 or codec.startswith(("UTF-16", "iso2022")):
        return "replace"
    sample = body[at : at + _SAMPLE]
    text = _decode(sample, codec, _ERRORS)
    return "replace" if text.count("\ufffd") > max(len(text) // 8, 16) else _ERRORS


def _replace(fault: UnicodeError) -> tuple[str, int]:
    """What the standard's decoders give where Python's give up."""
    if not isinstance(fault, UnicodeDecodeError):
        raise fault
    at, encoding = fault.start, fault.encoding
    pair = bytes(fault.object[at : at + 2])
    if encoding == "charmap" and pair[0] < 0xA0:
        return chr(pair[0]), at + 1
    if encoding == "gb18030" and pair[0] == 0x80:
        return "€", at + 1
    if encoding == "big5hkscs" and pair == _BIG5_EURO:
        return "€", at + 2
    if encoding == "euc_jp" and (sign := _vendor_sign(pair)):
        return sign, at + 2
    # The second byte of a bad pair is kept when it is ASCII: it may be the `<` of the next tag.
    return "\ufffd", at + (2 if len(pair) == 2 and pair[1] >= 0x80 and encoding != "charmap" else 1)


def _vendor_sign(pair: bytes) -> str:
    """A character of EUC-JP that only the vendors' extensions have (row 13: ① ㈱ and others), by way of Shift_JIS."""
    if len(pair) < 2 or min(pair) < 0xA1 or max(pair) == 0xFF:
        return ""
    row, cell = pair[0] - 0xA1, pair[1] - 0xA1
    lead = 0x81 + row // 2 + (0x40 if row >= 62 else 0)
    trail = cell + (0x9F if row % 2 else 0x40 + (cell >= 63))
    return bytes((lead, trail)).decode("cp932", "ignore")


codecs.register_error(_ERRORS, _replace)
