"""The documentation: links and names exist, snippets work."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import click
import msgspec
import pytest

from yoked_actor.cli.main import main
from yoked_actor.settings import Settings
from yoked_actor.settings.models.retries import JOB_TYPES
from yoked_actor.telemetry import Metrics

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SNIPPET_PAGES = [ROOT / "docs" / "testing-kit.md", ROOT / "docs" / "client.md"]
LOCAL = "http://127.0.0.1:8080"

_FENCE = re.compile(r"^(```+)([^\n]*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


class Fence(msgspec.Struct, frozen=True):
    """A fenced block: its kind, its text, and its line."""

    kind: str
    text: str
    line: int


def fences(page: Path) -> list[Fence]:
    """The fenced blocks of a page, in order."""
    text = page.read_text("utf-8")
    return [
        Fence(found[2].strip(), found[3], text[: found.start()].count("\n") + 1)
        for found in _FENCE.finditer(text)
    ]


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return _FENCE.sub("", page.read_text("utf-8"))


def anchors(page: Path) -> set[str]:
    """The fragments of the headings of a page."""
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} (.+)$", prose(page), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-"))
    return found


def name_of(page: Path) -> str:
    """A page's name, from the root of the repository."""
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_has_a_target(page):
    broken = []
    for link in _LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, fragment = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (fragment and fragment not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_every_page_can_be_reached_from_the_readme():
    found, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in found:
            continue
        found.add(page)
        for link in _LINK.findall(prose(page)):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target.is_file():
                waiting.append(target)
    assert {name_of(page) for page in PAGES} <= {name_of(page) for page in found}


_RULING = re.compile(r"^\| (R\d+) \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)


def test_every_cited_ruling_is_on_the_page_of_rulings():
    page = (ROOT / "docs" / "rulings.md").read_text("utf-8")
    explained = {found[1] for found in _RULING.finditer(page)}
    files = [*PAGES, *(ROOT / "tests").rglob("*.py")]
    for pattern in ("*.py", "*.sql", "*.js"):
        files += (ROOT / "yoked_actor").rglob(pattern)
    cited = set()
    for file in files:
        cited |= set(re.findall(r"\bR\d+\b", file.read_text("utf-8")))
    assert cited <= explained


def test_every_ruling_is_there_once_with_its_source_and_its_tests():
    page = (ROOT / "docs" / "rulings.md").read_text("utf-8")
    rows = [found.groups() for found in _RULING.finditer(page)]
    numbers = [int(number[1:]) for number, *_ in rows]
    assert numbers == sorted(set(numbers))
    for number, _, source, tested in rows:
        assert re.fullmatch(r"own|S[0-4](, S[0-4])*", source), number
        assert re.fullmatch(r"`tests/[\w/]+\.py`(, `tests/[\w/]+\.py`)*", tested), number


def test_every_named_test_exists():
    named = {
        path
        for page in PAGES
        for path in re.findall(r"`(tests/[\w/]+(?:\.py|/))`", page.read_text("utf-8"))
    }
    assert {path for path in named if not (ROOT / path).exists()} == set()


def test_every_logged_warning_and_error_is_documented():
    logged = set()
    for module in (ROOT / "yoked_actor").rglob("*.py"):
        if "bots" not in module.parts:
            found = re.findall(
                r'_log\.(?:warning|error|exception|critical)\(\s*"(\w+)"', module.read_text("utf-8")
            )
            logged.update(found)
    assert len(logged) > 30
    text = (ROOT / "docs" / "operations.md").read_text("utf-8")
    assert {event for event in logged if f"`{event}`" not in text} == set()


def test_the_documented_metrics_are_the_existing_ones():
    metrics = Metrics()
    metrics.watch(sessions=float, writes=float, ready=float, rooms=dict)
    exist = set()
    for family in metrics.registry.collect():
        if family.name.startswith("yoked_"):  # the others are of the Prometheus client
            exist.add(f"{family.name}_total" if family.type == "counter" else family.name)
    rows = (ROOT / "docs" / "operations.md").read_text("utf-8").splitlines()
    explained = {found[1] for row in rows if (found := re.match(r"\| `(yoked_\w+)", row))}
    assert explained == exist
    mentioned = set(re.findall(r"\byoked_(?!actor\b)\w+", "\n".join(rows)))
    assert {re.sub(r"_(bucket|count|sum)$", "", name) for name in mentioned} == exist


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_setting_that_is_named_exists(page):
    keys = {
        f"{section}.{key}"
        for section, field in Settings.model_fields.items()
        for key in getattr(field.annotation, "model_fields", ())
    }
    pattern = rf"`((?:{'|'.join(Settings.model_fields)})\.[a-z0-9_]+)(?: = [^`]*)?`"
    assert set(re.findall(pattern, prose(page))) <= keys | set(JOB_TYPES)


def commands_in(page: Path) -> Iterator[list[str]]:
    """Every command line `yoked-actor ...` on a page, as words."""
    lines = [line for fence in fences(page) for line in fence.text.splitlines()]
    lines += re.findall(r"`([^`\n]+)`", prose(page))
    for line in lines:
        found = re.search(r"(?:^|[\s/])yoked-actor +([a-z].*)", line.partition("#")[0])
        if found and not found[1].startswith("ready on"):
            yield found[1].split()


@pytest.mark.parametrize("page", [ROOT / "README.md", *(ROOT / "docs").glob("*.md")], ids=name_of)
def test_every_command_line_exists(page):
    for words in commands_in(page):
        command = main.get_command(click.Context(main), words[0])
        if isinstance(command, click.Group) and len(words) > 1 and words[1] in command.commands:
            command = command.commands[words[1]]
        assert isinstance(command, click.Command), words
        known = {option for param in command.params for option in param.opts}
        given = {word for word in words[1:] if word.startswith("--")}
        assert given <= known, words


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_named_file_exists(page):
    named = re.findall(r"`((?:tests|scripts|config|docs|yoked_actor)/[\w./-]*)", prose(page))
    layers = re.findall(
        r"`((?:actors|app|cli|domain|edge|settings|store|telemetry|wire)/[\w./-]+)`", prose(page)
    )
    missing = [name for name in named if not (ROOT / name).exists()]
    missing += [name for name in layers if not (ROOT / "yoked_actor" / name).exists()]
    assert missing == []


def definitions_in(module: Path) -> set[str]:
    """The functions and classes of a module, methods as `Class.method`."""
    found: set[str] = set()
    for node in ast.parse(module.read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef):
            found |= {
                f"{node.name}.{inner.name}"
                for inner in node.body
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
            }
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
    return found


def test_the_functions_of_the_walks_exist_and_their_hops_are_counted():
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    walks = re.findall(r"^<!-- walk -->\n### (.+)\n((?:(?!^#|^<!--).*\n)+)", page, re.MULTILINE)
    assert len(walks) == 5
    for name, text in walks:
        hops = re.findall(
            r"^\d+\. `([\w/]+\.py)`: `([\w.]+)`(?: (?:and|or) `([\w.]+)`)?", text, re.M
        )
        assert len(hops) == len(re.findall(r"^\d+\. ", text, re.M)), name
        assert [str(len(hops))] == re.findall(r"^(\d+) (?:more )?hops", text, re.M), name
        for module, *functions in hops:
            known = definitions_in(ROOT / "yoked_actor" / module)
            assert {function for function in functions if function} <= known, (name, module)


def test_the_picture_of_the_layers_has_every_layer_and_every_room():
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    picture = page.partition("## Five walks")[0]
    drawn = dict(re.findall(r'\["<b>(\w+)</b><br/>(.+)"\]', picture))
    package = ROOT / "yoked_actor"
    assert set(drawn) == {init.parent.name for init in package.glob("*/__init__.py")}
    for layer, rooms in drawn.items():
        if " · " in rooms:
            exist = {init.parent.name for init in (package / layer).glob("*/__init__.py")}
            assert set(rooms.split(" · ")) == exist, layer


def test_the_types_that_the_glossary_names_exist():
    named = set(re.findall(r"`([A-Z]\w+)`", (ROOT / "docs" / "glossary.md").read_text("utf-8")))
    assert len(named) > 10
    modules = (ROOT / "yoked_actor").rglob("*.py")
    assert named <= {name for module in modules for name in definitions_in(module)}


SNIPPETS = [
    pytest.param(page, fence, id=f"{page.name}:{fence.line}")
    for page in SNIPPET_PAGES
    for fence in fences(page)
    if fence.kind.split()[:1] == ["python"]
]


@pytest.mark.parametrize(("page", "fence"), SNIPPETS)
def test_a_snippet_is_python(page, fence):
    # A snippet may use await at its top level.
    indented = "".join(f"    {line}\n" for line in fence.text.splitlines())
    source = fence.text if "runnable" in fence.kind else f"async def snippet():\n{indented}"
    compile(source, f"{page.name}:{fence.line}", "exec")


def runnable(page: Path, *, tests: bool) -> list[tuple[Fence, str | None]]:
    """The runnable snippets of a page, each with the output that the page shows."""
    blocks = [*fences(page), Fence("", "", 0)]
    return [
        (fence, following.text if following.kind == "text" else None)
        for fence, following in pairwise(blocks)
        if fence.kind == "python runnable" and ("def test_" in fence.text) is tests
    ]


def run(*arguments: str | Path, cwd: Path) -> str:
    """Run a Python program; returns its output."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=300,  # a program that hangs; a busy machine needs its time
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_tests_that_the_testing_kit_shows_pass(tmp_path):
    shown = runnable(ROOT / "docs" / "testing-kit.md", tests=True)
    for fence, _ in shown:
        (tmp_path / f"test_line_{fence.line}.py").write_text(fence.text, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\ntrio_mode = true\nfilterwarnings = error\n")
    report = run("-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=tmp_path)
    assert re.search(r"^(\d+) passed", report, re.MULTILINE)


def test_the_program_that_the_testing_kit_shows_prints_what_it_shows(tmp_path):
    [(fence, output)] = runnable(ROOT / "docs" / "testing-kit.md", tests=False)
    (tmp_path / "shown.py").write_text(fence.text, "utf-8")
    assert run("shown.py", cwd=tmp_path).splitlines()[-1:] == (output or "").splitlines()


@pytest.fixture
def server(tmp_path):
    """The address of a real server on this machine."""
    process = subprocess.Popen(
        [sys.executable, "-m", "yoked_actor", "serve", "--dev", "--port", "0"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().removeprefix("yoked-actor ready on ").strip()
    finally:
        process.terminate()
        process.communicate(timeout=20)


@pytest.mark.process
def test_the_programs_that_the_client_page_shows_print_what_it_shows(server, tmp_path):
    for fence, output in runnable(ROOT / "docs" / "client.md", tests=False):
        assert LOCAL in fence.text
        (tmp_path / "shown.py").write_text(fence.text.replace(LOCAL, server), "utf-8")
        printed = run("shown.py", cwd=tmp_path).splitlines()
        # The order of the lines is random.
        assert sorted(printed) == sorted((output or "").splitlines()), f"line {fence.line}"
