"""The language of a text, declared and not."""

import pytest

from fetch.language import language_of

ENGLISH = "The harbour was closed for most of the day, and the ferries that should have left did not leave."
GERMAN = "Der Hafen war die meiste Zeit des Tages geschlossen, und die Fähren sind nicht ausgelaufen."


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (ENGLISH, "en"),
        (GERMAN, "de"),
        ("Le port est resté fermé pendant la journée et les bateaux ne sont pas sortis avec le vent.", "fr"),
        ("El rápido zorro marrón salta sobre el perro perezoso y luego se va a su casa a dormir.", "es"),
        ("今天天气很好，我们一起去公园玩。", "zh-Hans"),
        ("今天天氣很好，我們一起去公園玩。", "zh-Hant"),
        ("吾輩は猫である。名前はまだ無い。", "ja"),
        ("안녕하세요, 세계 여러분", "ko"),
        ("Сегодня хорошая погода, и мы пошли гулять в парк.", "ru"),
        ("مرحبا بالعالم، الطقس اليوم جميل جدا.", "ar"),
        ("שלום עולם", "he"),
        ("Python 3.12 发布了，这是新版本的说明，请大家阅读", "zh-Hans"),
        ("123 — 456", None),
        ("", None),
    ],
)
def test_the_text_tells(text: str, language: str | None) -> None:
    """Script and common words tell the language where nothing is declared."""
    assert language_of(text, None) == language


@pytest.mark.parametrize(
    ("text", "declared", "language"),
    [
        (ENGLISH, "en-US", "en"),
        (GERMAN, "en", "de"),
        ("吾輩は猫である。", "en", "ja"),
        ("Сьогодні гарна погода", "uk", "uk"),
        ("东京", "zh-CN", "zh-Hans"),
        ("東京", "ja", "ja"),
        ("上海", "zh_TW", "zh-Hant"),
        ("Hello", "zh-CN", None),
        ("Hello", "en_GB.UTF-8", "en"),
        ("", "pt-BR", "pt"),
        ("Hello", "{{ lang }}", None),
    ],
)
def test_a_declaration_counts_where_it_is_possible(text: str, declared: str, language: str | None) -> None:
    """What a page says of itself is believed unless its text contradicts it."""
    assert language_of(text, declared) == language


def test_hostile_texts_are_nothing_special() -> None:
    """Length and lone surrogates do no harm."""
    assert language_of("\ud800" * 1000, "en") == "en"
    assert language_of(ENGLISH * 50_000, None) == "en"
