"""The API reference: one HTML page, rendered from the OpenAPI and AsyncAPI documents.

The page loads nothing: its style and its script are inline, so that it can be saved, searched and
read anywhere. On a server with `--dev` it has a form to try each call.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any

from markupsafe import Markup, escape

from yoked_actor.edge.http.pages import page_file, render
from yoked_actor.wire.contract import Document


def contract_page(http: Document, socket: Document, *, dev: bool = False) -> str:
    """Render an OpenAPI and an AsyncAPI document."""
    schemas = {**http["components"]["schemas"], **socket["components"]["schemas"]}
    messages = socket["components"]["messages"]
    return render(
        "docs.html",
        http=http,
        socket=socket,
        dev=dev,
        icon=_icon(),
        style=Markup(page_file("docs.css")),
        scripts=[Markup(page_file(name)) for name in _scripts(dev)],
        schemas=schemas,
        shared=_shared(http, socket, schemas),
        commands={key[8:]: messages[key] for key in messages if key.startswith("command.")},
        replies={key[6:]: messages[key] for key in messages if key.startswith("reply.")},
        events={key[6:]: messages[key] for key in messages if key.startswith("event.")},
        resolve=lambda schema: _resolve(schema, schemas),
        kind=_kind,
        limits=_limits,
        prose=_prose,
        pretty=_pretty,
        searchable=_searchable,
        query_of=_query_of,
    )


def page_policy(*, dev: bool = False) -> str:
    """The Content-Security-Policy of the page: its inline style and scripts, by digest."""
    scripts = " ".join(f"'sha256-{_digest(name)}'" for name in _scripts(dev))
    calls = " connect-src 'self';" if dev else ""
    return (
        f"default-src 'none'; style-src 'sha256-{_digest('docs.css')}'; script-src {scripts};"
        f"{calls} img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _scripts(dev: bool) -> list[str]:
    return ["docs.js", "docs-try.js"] if dev else ["docs.js"]


def _digest(name: str) -> str:
    return base64.b64encode(hashlib.sha256(page_file(name).encode()).digest()).decode()


def _icon() -> str:
    return (
        "data:image/svg+xml;base64," + base64.b64encode(page_file("app/icon.svg").encode()).decode()
    )


def _searchable(kind: str, name: str, summary: str, codes: Iterable[str], schema: Document) -> str:
    """What a search looks through: lower case, without backticks."""
    words = [kind, name, summary, *codes, *schema.get("properties", {})]
    return " ".join(words).replace("`", "").lower()


def _query_of(call: Document) -> str:
    """An example of the query of a call; empty when it has none."""
    names = [one["name"] for one in call.get("parameters", ()) if one["in"] == "query"]
    return "&".join(f"{name}=" for name in names)


def _shared(http: Document, socket: Document, schemas: Document) -> Document:
    """The types that are used inside others: all but messages, bodies and responses."""
    own = {_name(message["payload"]) for message in socket["components"]["messages"].values()}
    for path in http["paths"].values():
        for call in path.values():
            for part in (call.get("requestBody", {}), *call["responses"].values()):
                own |= {_name(content["schema"]) for content in part.get("content", {}).values()}
    # These are bodies or responses too, but large, and used in several places.
    own -= {"DeclaredRoom", "JobEntry", "Profile", "RoomDefinition", "Snapshot"}
    return {name: schemas[name] for name in sorted(schemas) if name not in own}


def _name(schema: Document) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _resolve(schema: Document, schemas: Document) -> Document:
    resolved: Document = schemas[_name(schema)] if "$ref" in schema else schema
    return resolved


def _kind(schema: Document) -> Markup:
    """The type of a field."""
    if "$ref" in schema:
        name = _name(schema)
        return Markup('<a href="#type-{0}">{0}</a>').format(name)
    if "anyOf" in schema:
        return Markup(" or ").join(_kind(option) for option in schema["anyOf"])
    if "enum" in schema:
        return Markup(", ").join(Markup("<code>{}</code>").format(v) for v in schema["enum"])
    if schema.get("type") == "array":
        return Markup("list of {}").format(_kind(schema.get("items", {})))
    names = {"date-time": "time", "date": "date"}
    return escape(names.get(schema.get("format", ""), schema.get("type", "any JSON")))


def _limits(schema: Document) -> str:
    """The bounds of a field's value."""
    least = schema.get("minLength", schema.get("minItems", schema.get("minimum")))
    most = schema.get("maxLength", schema.get("maxItems", schema.get("maximum")))
    unit = "characters" if "maxLength" in schema else "entries" if "maxItems" in schema else ""
    if "exclusiveMinimum" in schema:
        bounds = f"over {schema['exclusiveMinimum']:,}" + (f", at most {most:,}" if most else "")
    elif least is not None and most is not None:
        bounds = f"{least:,} to {most:,}"
    elif most is not None:
        bounds = f"at most {most:,}"
    elif least is not None:
        bounds = f"at least {least:,}"
    else:
        return ""
    return f"{bounds} {unit}".rstrip()


def _prose(text: str) -> Markup:
    """Text with the parts between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _pretty(value: Any, indent: int = 0) -> str:
    """JSON with short objects and lists on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= 76 or not isinstance(value, dict | list):
        return line
    inner = indent + 2
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {_pretty(part, inner)}" for key, part in value.items()]
    else:
        parts = [_pretty(part, inner) for part in value]
    start, end = "{}" if isinstance(value, dict) else "[]"
    body = f",\n{' ' * inner}".join(parts)
    return f"{start}\n{' ' * inner}{body}\n{' ' * indent}{end}"
