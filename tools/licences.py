"""Write docs/contributors/licences.md: the licence of every package that operators get.

These are the packages that requirements.txt brings, and the npm packages whose code is in the
built workbench. The text comes from the metadata of the packages, so run it in the project's
environment (`make licences`). The development tools are not part of what is installed for
operators, and are left out.
"""

import json
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "contributors" / "licences.md"
BUNDLED = ROOT / "web" / "dist" / "workbench" / "licences.json"
# Needed on some versions of Python only, so it may be missing where the page is written.
_NOT_EVERYWHERE = {"async-timeout": "Apache-2.0"}
_LONGEST = 60
_HEAD = """\
# Licences of the dependencies

`make licences` writes this page from the metadata of the packages that `requirements.txt`
installs, and of the npm packages whose code is in the built workbench. Each licence is quoted from
its package. The development tools, the npm packages of the tests and this project itself are not
listed; the owner of the project chooses its licence.

| Package | Version | Licence |
|---|---|---|
"""


_WORKBENCH = """
## Packages in the workbench

The service sends their texts with the workbench: `/workbench/licences.json`.

| Package | Version | Licence |
|---|---|---|
"""


def render_page() -> str:
    """Return the page for the packages of this environment and of the built workbench."""
    return render_requirements() + render_bundled()


def render_bundled() -> str:
    """Return the part about the npm packages, which the build lists."""
    packages = json.loads(BUNDLED.read_text(encoding="utf-8"))
    rows = (f"| {one['name']} | {one['version']} | {one['identifier']} |\n" for one in packages)
    return _WORKBENCH + "".join(rows)


def render_requirements() -> str:
    """Return the part about the packages of Python."""
    pins = read_pins()
    names = sorted(list_packages(), key=str.lower)
    return _HEAD + "".join(f"| {name} | {pins[name]} | {find_licence(name)} |\n" for name in names)


def read_pins() -> dict[str, str]:
    """Return the pinned version of every package, by canonical name."""
    lines = [
        line
        for name in ("constraints.txt", "requirements.txt")
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines()
    ]
    pins = (re.match(r"([\w.-]+)==([^\s;]+)", line) for line in lines)
    return {canonicalize_name(pin[1]): pin[2] for pin in pins if pin}


def list_packages() -> set[str]:
    """Return the canonical names of the requirements and of all that they bring along."""
    found: set[str] = set(_NOT_EVERYWHERE)
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pending = [Requirement(line) for line in lines if line and not line.startswith("#")]
    while pending:
        requirement = pending.pop()
        name = canonicalize_name(requirement.name)
        if name not in found:
            found.add(name)
            pending += _requirements_of(requirement)
    return found


def _requirements_of(requirement: Requirement) -> Iterator[Requirement]:
    extras = requirement.extras or {""}
    for line in metadata.requires(requirement.name) or []:
        needed = Requirement(line)
        if needed.marker is None or any(needed.marker.evaluate({"extra": e}) for e in extras):
            yield needed


def find_licence(name: str) -> str:
    """Return the licence that a package states: as an expression, in words, or by classifiers."""
    if name in _NOT_EVERYWHERE:
        return _NOT_EVERYWHERE[name]
    facts = metadata.metadata(name)
    if facts["License-Expression"]:
        return str(facts["License-Expression"])
    words = (facts["License"] or "").strip()
    classifiers = [
        value.rpartition(" :: ")[2]
        for value in facts.get_all("Classifier") or []
        if value.startswith("License ::") and value != "License :: OSI Approved"
    ]
    if words and "\n" not in words and len(words) <= _LONGEST:
        return words
    return " and ".join(classifiers) or "not stated"


if __name__ == "__main__":
    PAGE.write_text(render_page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(ROOT)} is written.\n")
