"""Text that people see: what is refused, what is kept, and how names are stored."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from yoked_actor.domain.people import BadText, check_text, check_words, clean_name

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
HEART = "\u2764\ufe0f"
HEART_ON_FIRE = f"{HEART}\u200d\U0001f525"
PILOT = "\U0001f469\U0001f3fd\u200d\u2708\ufe0f"
RAINBOW_FLAG = "\U0001f3f3\ufe0f\u200d\U0001f308"
NODDING = "\U0001f642\u200d\u2195\ufe0f"
SCOTLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
EMOJI = (FAMILY, HEART, HEART_ON_FIRE, PILOT, RAINBOW_FLAG, NODDING, SCOTLAND, "1\ufe0f\u20e3")


@pytest.mark.parametrize(
    "text",
    [
        "Ana",
        "O'Neill-García y Łódź",
        "Дмитрий 王小明 محمد สวัสดี हिन्दी",
        "nguyễn",
        "e\u0301\u0301\u0301\u0301",
        "\U0001f1e9\U0001f1ea",
        *EMOJI,
        f"Ana {FAMILY} & {PILOT}!",
        "\u0601 is a sign that is seen",
    ],
)
def test_names_of_all_scripts_and_emoji_pass(text):
    assert check_text("reason", text) == text
    assert clean_name("display_name", text, 80) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    ("character", "why"),
    [
        *((c, "control characters or line breaks") for c in "\x00\x07\t\n\r\x1b\x7f\x85\x9f"),
        *((c, "line breaks") for c in "\u2028\u2029"),
        *((chr(c), "direction") for c in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))),
        *((c, "invisible") for c in "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad\u061c"),
        *((c, "invisible") for c in "\u115f\u1160\u3164\uffa0\u034f\u180e"),
        *((c, "invisible") for c in "\U000e0001\U000e0067\U000e007f"),
        *((c, "surrogate") for c in "\ud800\udfff"),
    ],
)
@pytest.mark.parametrize("around", ["{}", "a{}b", "{}ana", "ana{}", f"{FAMILY}{{}}", "\u4e2d{}"])
def test_a_trick_is_refused_wherever_it_stands(character, why, around):
    text = around.format(character)
    for check in (check_text, check_words):
        with pytest.raises(BadText, match=why) as refused:
            check("reason", text)
        message = str(refused.value)
        assert message.startswith("reason must not contain ")
        assert message.endswith(f"(U+{ord(character):04X})")
        assert message.isascii()
    with pytest.raises(BadText, match="display_name"):
        clean_name("display_name", f"a{text}b", 80)


@pytest.mark.parametrize(
    "text",
    [
        f"{FAMILY}\u200d",
        f"\u200d{FAMILY}",
        "\U0001f468\u200d\u200d\U0001f469",
        "\U0001f468\u200da",
        "a\u200d\U0001f468",
        "\U0001f1e9\u200d\U0001f1ea",
        "\U0001f3f4\U000e0067",
        "\U0001f468\U000e0067\U000e007f",
    ],
)
def test_a_joiner_or_a_tag_that_is_no_part_of_an_emoji_is_refused(text):
    with pytest.raises(BadText, match="invisible"):
        check_text("reason", text)


def test_more_than_four_marks_in_a_row_are_refused_also_when_they_compose():
    check_text("reason", "a" + "\u0300" * 4 + "b" + "\u0300" * 4)
    for marks in ("\u0300" * 5, "\u0301\u20dd\u093e\u0e48\u0323"):
        with pytest.raises(BadText, match="display_name has more than 4 combining marks in a row"):
            clean_name("display_name", f"a{marks}", 80)


@pytest.mark.parametrize("blank", ["", " ", "\u3000\u00a0 ", "\u2800", "\u0301", " \u2800 "])
def test_a_name_of_which_nothing_is_seen_is_blank(blank):
    with pytest.raises(BadText, match="display_name is blank"):
        clean_name("display_name", blank, 80)
    with pytest.raises(BadText, match="text is blank"):
        check_words("text", blank)


def test_a_name_is_composed_and_trimmed():
    assert clean_name("display_name", " \u00a0Rene\u0301 \u3000", 80) == "Ren\u00e9"


def test_a_name_that_grows_when_composed_is_measured_afterwards():
    assert clean_name("display_name", "\u0958" * 40, 80) == "\u0915\u093c" * 40
    with pytest.raises(BadText, match="more than 80 characters"):
        clean_name("display_name", "\u0958" * 41, 80)


texts = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\u200d\ufe0f\u0301\u2764\U0001f468\U0001f3fd\U0001f3f4\U000e0067a "),
    ),
    max_size=100,
)


@given(texts)
@example(FAMILY)
def test_what_passes_holds_nothing_that_the_contract_refuses(text):
    try:
        name = clean_name("display_name", text, 80)
    except BadText:
        return
    assert name == name.strip() == unicodedata.normalize("NFC", name)
    assert 1 <= len(name) <= 80
    assert not {unicodedata.category(one) for one in name} & {"Cc", "Cs", "Zl", "Zp"}
    assert not set(name) & {chr(n) for n in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
    marks = "".join("m" if unicodedata.category(one)[0] == "M" else "." for one in name)
    assert "mmmmm" not in marks
    for index, one in enumerate(name):
        if one in "\u200b\u200c\u2060\ufeff":
            pytest.fail("a zero-width character")
        if one == "\u200d":
            before, after = name[index - 1], name[index + 1]
            assert unicodedata.category(before) not in ("Lu", "Ll", "Lo", "Zs")
            assert unicodedata.category(after) not in ("Lu", "Ll", "Lo", "Zs")


@given(texts)
def test_a_clean_name_stays_as_it_is(text):
    try:
        name = clean_name("display_name", text, 80)
    except BadText:
        return
    assert clean_name("display_name", name, 80) == name


@given(st.text(st.characters(categories=["Lu", "Ll", "Lo", "Nd", "Po", "Sc"]), min_size=1))
def test_plain_text_is_never_refused(text):
    if not set(text) & set("\u115f\u1160\u3164\uffa0"):
        assert check_text("reason", text) == text


@given(st.lists(st.sampled_from(EMOJI), min_size=1, max_size=8))
def test_emoji_stand_beside_each_other(emoji):
    assert check_text("reason", "".join(emoji))
