"""A critical look at a page: an audit by axe-core, and a picture for people."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.browser.pages import Person

NO_WORDS = re.compile(r"\b(undefined|null|NaN|true|false)\b|\[object")
AUDIT = """
async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  const where = (nodes) => nodes.map((node) => [node.target, node.failureSummary]);
  return violations.map(({ id, impact, nodes }) => ({ id, impact, where: where(nodes) }));
}
"""


class Critic:
    """Looks at a page with a person's eyes."""

    def __init__(self, person: Person, axe: Path, suffix: str) -> None:
        self.person = person
        self.suffix = suffix
        person.page.add_init_script(path=axe)

    def looks(self, name: str) -> None:
        """No finding, nothing that sticks out to the side, and a picture of it."""
        page = self.person.page
        self.person.shoot(f"{name}-{self.suffix}")
        findings: list[dict[str, Any]] = page.evaluate(AUDIT)
        assert findings == [], findings
        # Values that are not there must not be shown as if they were words.
        assert not re.search(
            r"\b(undefined|null|NaN|true|false)\b|\[object", page.inner_text("body")
        )
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.get_by_role("heading", level=1).count() == 1
        assert page.title().endswith(" · Yoked")
