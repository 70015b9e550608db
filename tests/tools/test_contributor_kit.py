"""What contributors use: commands that explain themselves, hooks, and a list of licences."""

import re
import subprocess
from pathlib import Path

import yaml

from tools import licences

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_make_help_explains_every_command() -> None:
    (phony,) = re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)
    for command in (["make", "--silent", "help"], ["make", "--silent"]):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        explained = dict(re.findall(r"^  make (\w+) +(\S.*)$", done.stdout, re.MULTILINE))
        assert sorted(explained) == sorted(phony.split())


def test_make_check_names_only_tests_that_exist() -> None:
    lists = re.findall(r"^(?:NO_)?UNIT_TESTS := ((?:.*\\\n)*.*)$", MAKEFILE, re.MULTILINE)
    paths = [path for paths in lists for path in paths.replace("\\\n", " ").split()]
    assert len(lists) == 2
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_hooks_run_the_pinned_tools_of_make_lint() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (repository,) = config["repos"]
    assert repository["repo"] == "local"
    tools = {hook["entry"].split()[0] for hook in repository["hooks"]}
    (npm,) = re.findall(r"^NPM := (.+)$", MAKEFILE, re.MULTILINE)
    recipe = MAKEFILE[MAKEFILE.index("\nlint: $(VENV)") : MAKEFILE.index("\nformat:")]
    recipe = recipe.replace("$(NPM)", npm)
    assert tools == {f".venv/bin/{name}" for name in re.findall(r"\$\(BIN\)/(\S+)", recipe)}


def test_the_list_of_licences_is_current() -> None:
    written = licences.PAGE.read_text(encoding="utf-8").splitlines()
    missing = [line for line in licences.render_requirements().splitlines() if line not in written]
    assert missing == [], "run `make licences`"
    end = written.index("## Packages in the workbench")
    listed = {line.split(" | ")[0].removeprefix("| ") for line in written[:end] if " | " in line}
    assert listed - {"Package"} <= set(licences.read_pins())
