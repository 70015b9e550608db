"""Write docs/contributors/licences.md, which lists the licences of the packages operators install.

These packages are those in requirements.txt with their dependencies, and the npm packages whose
code is in the built workbench. The licences come from the packages' metadata, so run this program
in the project's environment (`make licences`). Development tools are not listed.
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
# Only some versions of Python need these packages, so this environment may not have them.
_CONDITIONAL_LICENCES = {"async-timeout": "Apache-2.0"}
_MAX_LICENCE_LENGTH = 60
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
    """Return the section about the npm packages, which the workbench's build lists in a file."""
    packages = json.loads(BUNDLED.read_text(encoding="utf-8"))
    rows = (f"| {p['name']} | {p['version']} | {p['identifier']} |\n" for p in packages)
    return _WORKBENCH + "".join(rows)


def render_requirements() -> str:
    """Return the section about the Python packages."""
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
    """Return the canonical names of the requirements and of all their dependencies."""
    names: set[str] = set(_CONDITIONAL_LICENCES)
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pending = [Requirement(line) for line in lines if line and not line.startswith("#")]
    while pending:
        requirement = pending.pop()
        name = canonicalize_name(requirement.name)
        if name not in names:
            names.add(name)
            pending += _list_dependencies(requirement)
    return names


def _list_dependencies(requirement: Requirement) -> Iterator[Requirement]:
    extras = requirement.extras or {""}
    for line in metadata.requires(requirement.name) or []:
        dependency = Requirement(line)
        marker = dependency.marker
        if marker is None or any(marker.evaluate({"extra": e}) for e in extras):
            yield dependency


def find_licence(name: str) -> str:
    """Return the licence expression, text or classifiers of a package, or "not stated"."""
    if name in _CONDITIONAL_LICENCES:
        return _CONDITIONAL_LICENCES[name]
    properties = metadata.metadata(name)
    if properties["License-Expression"]:
        return str(properties["License-Expression"])
    licence = (properties["License"] or "").strip()
    classifiers = [
        value.rpartition(" :: ")[2]
        for value in properties.get_all("Classifier") or []
        if value.startswith("License ::") and value != "License :: OSI Approved"
    ]
    if licence and "\n" not in licence and len(licence) <= _MAX_LICENCE_LENGTH:
        return licence
    return " and ".join(classifiers) or "not stated"


if __name__ == "__main__":
    PAGE.write_text(render_page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(ROOT)} was written.\n")
