"""The pages link only to files and headings that exist."""

import re
import subprocess
from pathlib import Path

from tests.docs.pasting import ROOT


def _read(page: Path) -> str:
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def _list_anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", _read(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_links_of_all_pages_lead_somewhere() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    broken = []
    for page in (ROOT / name for name in listed.stdout.split()):
        for link in re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)\)", _read(page)):
            path, _, anchor = link.partition("#")
            target = page.parent / path if path else page
            if not target.exists() or (anchor and anchor not in _list_anchors(target)):
                broken.append(f"{page.relative_to(ROOT)}: {link}")
    assert broken == []
