"""The texts of the web client: each language is complete, and no text is unused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

APP = Path(__file__).parents[2] / "yoked_actor" / "edge" / "pages" / "app"
LANGUAGES = sorted(path.stem for path in (APP / "texts").glob("*.js"))
# t("home.title"), known("tier.1"), PROBLEMS = { x: "media.missing" }; and `tier.${reply.tier}`.
LITERAL = re.compile(r"\"([a-z]\w*\.\w+)\"")
PREFIX = re.compile(r"`([a-z]\w*\.)\$\{")
PLURAL = re.compile(r"\.(one|other)$")


def catalogue(language: str) -> dict[str, str]:
    text = (APP / "texts" / f"{language}.js").read_text("utf-8")
    pairs: list[tuple[str, str]] = json.loads(
        text.removeprefix("export default "), object_pairs_hook=list
    )
    assert len(dict(pairs)) == len(pairs), "a key is there twice"
    return dict(pairs)


ENGLISH = catalogue("en")


def sources() -> str:
    modules = [path for path in APP.rglob("*.js") if path.parent.name != "texts"]
    index = (APP.parent / "index.html").read_text("utf-8")
    return "\n".join([index, *(module.read_text("utf-8") for module in modules)])


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_the_keys_and_placeholders_of_english(language: str) -> None:
    texts = catalogue(language)
    assert set(texts) == set(ENGLISH)
    for key, text in texts.items():
        assert text.strip(), key
        assert set(re.findall(r"{\w+}", text)) == set(re.findall(r"{\w+}", ENGLISH[key])), key


def test_every_key_that_the_pages_use_exists() -> None:
    keys = {PLURAL.sub("", key) for key in ENGLISH}
    files = {"my-data.json", "yoked.token", "yoked.preferences", "yoked.reports"}
    wanted = set(LITERAL.findall(sources())) - files
    assert wanted - keys == set()


def test_every_text_is_used() -> None:
    text = sources()
    used, prefixes = set(LITERAL.findall(text)), tuple(PREFIX.findall(text))
    unused = {
        key for key in ENGLISH if PLURAL.sub("", key) not in used and not key.startswith(prefixes)
    }
    assert unused == set()


def test_no_view_has_a_text_of_its_own() -> None:
    # A sentence in quotes: a capital letter, a space and a full stop.
    sentence = re.compile(r"[\"`][A-Z][a-z]+ [^\"`\n]*[.…?][\"`]")
    for path in APP.rglob("*.js"):
        if path.parent.name != "texts":
            code = re.sub(r"^\s*(//|/?\*).*$", "", path.read_text("utf-8"), flags=re.M)
            assert sentence.findall(code) == [], path.name
