"""Every page of the workbench is looked at by a walk."""

import re
from pathlib import Path

from tests.workbench.driver import WALKS

SOURCES = Path(__file__).parents[2] / "web" / "src"
ELSEWHERE = {
    # Pages that only lead to others.
    "/label": "home",
    "/review/next": "review",
    "/open/$slug/$": "mail_links",
    "/billing/invoices/$invoiceId": "past",
}
_ROUTE = re.compile(r"path: '([^']+)'")


def test_the_accessibility_of_every_page_is_checked() -> None:
    routes = {
        path
        for file in SOURCES.glob("**/routes.tsx")
        for path in _ROUTE.findall(file.read_text(encoding="utf-8"))
    }
    checked = (WALKS / "accessibility.mjs").read_text(encoding="utf-8")
    assert len(routes) > 50
    missing = {path for path in routes - ELSEWHERE.keys() if f"'{path}'" not in checked}
    assert missing == set(), "add them to walks/accessibility.mjs"
