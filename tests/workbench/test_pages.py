"""Compare the pages that the walks check for accessibility with the routes of the workbench."""

import re
from pathlib import Path

from tests.workbench.driver import WALKS

SOURCES = Path(__file__).parents[2] / "web" / "src"
LEADING_ON = {"/label", "/review/next", "/open/$slug/$"}
"""Routes that open another page."""
CHECKED_ELSEWHERE = {"/billing/invoices/$invoiceId"}
"""Pages that driven/past.mjs checks."""
_ROUTE = re.compile(r"path: '([^']+)'")


def test_the_accessibility_of_every_page_is_checked() -> None:
    routes = {
        path
        for file in SOURCES.glob("**/routes.tsx")
        for path in _ROUTE.findall(file.read_text(encoding="utf-8"))
    }
    checked = (WALKS / "accessibility.mjs").read_text(encoding="utf-8")
    assert len(routes) > 50
    missing = {
        path for path in routes - LEADING_ON - CHECKED_ELSEWHERE if f"'{path}'" not in checked
    }
    assert missing == set(), "add them to walks/accessibility.mjs"
