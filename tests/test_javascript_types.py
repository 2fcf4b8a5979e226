"""The types of `yoked.js`, as TypeScript reads them from its comments."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.npm import from_npm

TYPESCRIPT_VERSION = "7.0.2"
PAGES = Path(__file__).parents[1] / "yoked_actor" / "edge" / "pages"
OPTIONS = (
    *("--noEmit", "--allowJs", "--checkJs", "--strict", "--ignoreConfig"),
    *("--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler"),
    *("--lib", "es2023,dom,dom.iterable"),
)

APP = """
import {{ connect, Api, YokedError }} from "{module}";

const client = connect({{ token: "t" }});
const api = new Api({{ token: "t" }});

export async function evening() {{
  const snapshot = await client.welcomed();
  {line}
}}
"""

RIGHT = (
    "const since: string | undefined = snapshot.waiting_since;",
    "if (snapshot.match) await client.vote(snapshot.match.match_id, 'yes');",
    "const name: string = snapshot.date?.partner.display_name ?? '';",
    "const servers: RTCIceServer[] = snapshot.date?.ice_servers ?? [];",
    "const { re } = await client.answerOffer('o', 'accept');",
    "try { await client.spin(); } catch (error) {"
    " if (error instanceof YokedError) { const code: string = error.code; } }",
    "const profile = await api.profile(); if (profile) profile.preferences.min_age += 1;",
    "const { warnings } = await api.warnings();"
    " for (const one of warnings) await api.warningSeen(one.warning_id);",
    "const [first] = await client.rooms();"
    " if (!first.needs_code) await client.enterRoom(first.room);",
    "const where: string = snapshot.room; const closes: string | undefined = first.closes_at;",
    "const late = connect({ token: 't', room: 'friday', code: 'come-in' });"
    " const why: string | undefined = late.refused?.code;",
    "await client.api.appeal('It was a misunderstanding.');",
    "client.close();",
)

WRONG = {
    "await client.vote('m1', 'maybe');": '"maybe"',
    "await client.vote(1, 'yes');": "'number'",
    "await client.vote('yes');": "Expected 2 arguments",
    "connect({ token: 't', room: 7 });": "'number'",
    "await client.enterRoom();": "Expected 1-2 arguments",
    "await api.appeal();": "Expected 1 arguments",
    "await api.warningSeen(3);": "'number'",
    "await client.wave();": "'wave'",
    "if (snapshot.state === 'asleep') client.close();": "'\"asleep\"'",
    "await client.vote(snapshot.match.match_id, 'yes');": "possibly 'undefined'",
    "connect({ url: 'https://dates.example' });": "'token' is missing",
    "(await api.profile()).display_name;": "possibly 'null'",
}


def complaints(*files: Path) -> str:
    modules = from_npm("typescript", TYPESCRIPT_VERSION)
    done = subprocess.run(
        [modules / ".bin" / "tsc", *OPTIONS, *files],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode == 0) == (done.stdout == ""), done.stderr
    return done.stdout


def app(folder: Path, line: str) -> Path:
    folder.mkdir()
    file = folder / "app.ts"
    file.write_text(APP.format(module=PAGES / "yoked.js", line=line))
    return file


def test_the_client_keeps_the_types_that_it_promises() -> None:
    assert complaints(PAGES / "yoked.js") == ""


def test_an_app_that_uses_it_rightly_has_its_types(tmp_path: Path) -> None:
    assert complaints(app(tmp_path / "app", "\n  ".join(RIGHT))) == ""


@pytest.mark.parametrize("line", WRONG)
def test_an_app_that_misuses_it_is_told(line: str, tmp_path: Path) -> None:
    assert WRONG[line] in complaints(app(tmp_path / "app", line))
