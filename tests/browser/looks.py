"""Checks the look of a page: an audit by axe-core, and a screenshot."""

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
    """Checks the pages of one person."""

    def __init__(self, person: Person, axe: Path, suffix: str) -> None:
        self.person = person
        self.suffix = suffix
        person.page.add_init_script(path=axe)

    def looks(self, name: str) -> None:
        """Take a screenshot; check accessibility, width and texts."""
        page = self.person.page
        self.person.shoot(f"{name}-{self.suffix}")
        findings: list[dict[str, Any]] = page.evaluate(AUDIT)
        assert findings == [], findings
        # Missing values must not show up as text.
        assert not re.search(
            r"\b(undefined|null|NaN|true|false)\b|\[object", page.inner_text("body")
        )
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.get_by_role("heading", level=1).count() == 1
        assert page.title().endswith(" · Yoked")
