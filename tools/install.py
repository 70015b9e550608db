"""Install Python packages with uv, which takes a fifth of pip's time.

    python tools/install.py -r requirements.txt -c constraints.txt

The arguments must be arguments of both `uv pip install` and `pip install`. uv does not read pip's
configuration, so uv gets pip's registries and certificates in environment variables. If uv fails,
pip installs the packages, for example from a registry whose password only pip can ask for.
"""

import ast
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path

_UV = "uv==0.13.9"
_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")
# For each option of pip: the variable of uv, and the separator of the values in that variable.
# https://docs.astral.sh/uv/reference/environment/
_VARIABLES = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "constraint": ("UV_CONSTRAINT", " "),
    "proxy": ("ALL_PROXY", " "),
    "cert": ("SSL_CERT_FILE", " "),
    "client-cert": ("SSL_CLIENT_CERT", " "),
    "timeout": ("UV_HTTP_TIMEOUT", " "),
    "default-timeout": ("UV_HTTP_TIMEOUT", " "),
}
_MAIN_REGISTRY = "https://pypi.org/simple"
_SECTIONS = ("global", "site", "user", "install", ":env:")
"""The sections of pip's configuration that `pip install` reads; a later one takes precedence."""


def read_uv_environment(configuration: Iterable[str]) -> dict[str, str]:
    """Return uv's variables for the lines of `pip config list`, such as `global.cert='/a.pem'`."""
    options: dict[tuple[int, str], str] = {}
    for line in configuration:
        name, _, value = line.partition("=")
        section, _, option = name.rpartition(".")
        if section in _SECTIONS and option in _VARIABLES:
            options[_SECTIONS.index(section), option] = str(ast.literal_eval(value))
    # pip chooses the best version in all registries, but uv by default only the first registry's.
    variables = {"UV_INDEX_STRATEGY": "unsafe-best-match"}
    for (_, option), value in sorted(options.items()):
        variable, separator = _VARIABLES[option]
        variables[variable] = separator.join(value.split())
    if "UV_INDEX" in variables:
        # By default, uv asks the main registry last, but other registries may lack source packages.
        main = variables.get("UV_DEFAULT_INDEX", _MAIN_REGISTRY)
        variables["UV_INDEX"] = f"{main} {variables['UV_INDEX']}"
    return variables


def build_uv_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for uv: pip's configuration, overridden by `environ`."""
    command = [*_PIP, "config", "list"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
    return {
        **read_uv_environment(done.stdout.splitlines()),
        # The cache is next to the packages, so that uv links their files instead of copying them.
        "UV_CACHE_DIR": str(Path(sys.prefix) / "uv-cache"),
        **environ,
    }


def install(arguments: list[str], environ: Mapping[str, str]) -> int:
    """Install packages into this environment with pip's arguments; return the exit status."""
    pip = [*_PIP, "install", "--quiet", "--no-compile"]
    if find_spec("uv") is None:
        subprocess.run([*pip, _UV], check=False, env=environ)
    uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", sys.executable]
    variables = build_uv_environment(environ)
    if subprocess.run([*uv, *arguments], check=False, env=variables).returncode == 0:
        return 0
    sys.stderr.write("uv could not install the packages. Now pip tries, which takes minutes.\n")
    return subprocess.run([*pip, *arguments], check=False, env=environ).returncode


if __name__ == "__main__":
    sys.exit(install(sys.argv[1:], os.environ))
