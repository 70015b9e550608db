"""Install packages of Python with uv, which takes a fifth of pip's time.

    python tools/install.py -r requirements.txt -c constraints.txt

The arguments are those that `uv pip install` and `pip install` share. uv does not read pip's
configuration, so its registries and certificates are passed on. What uv cannot install, for
example from a registry whose password only pip can ask for, pip installs.
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
# The names of pip's options and of uv's variables, and what separates their values.
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
    found: dict[tuple[int, str], str] = {}
    for line in configuration:
        name, _, value = line.partition("=")
        section, _, option = name.rpartition(".")
        if section in _SECTIONS and option in _VARIABLES:
            found[_SECTIONS.index(section), option] = str(ast.literal_eval(value))
    # pip takes the best version of all registries, uv by default the first registry's.
    variables = {"UV_INDEX_STRATEGY": "unsafe-best-match"}
    for (_, option), value in sorted(found.items()):
        variable, separator = _VARIABLES[option]
        variables[variable] = separator.join(value.split())
    if "UV_INDEX" in variables:
        # uv asks the default registry last. What another has may lack the source package.
        main = variables.get("UV_DEFAULT_INDEX", _MAIN_REGISTRY)
        variables["UV_INDEX"] = f"{main} {variables['UV_INDEX']}"
    return variables


def build_uv_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for uv: the caller's, with pip's configuration."""
    command = [*_PIP, "config", "list"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
    return {
        **read_uv_environment(done.stdout.splitlines()),
        # Beside the packages, so that their files are linked instead of copied.
        "UV_CACHE_DIR": str(Path(sys.prefix) / "uv-cache"),
        **environ,
    }


def install(arguments: list[str], environ: Mapping[str, str]) -> int:
    """Install what the arguments name into this environment, and return the exit status."""
    pip = [*_PIP, "install", "--quiet", "--no-compile"]
    if find_spec("uv") is None:
        subprocess.run([*pip, _UV], check=False, env=environ)
    uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", sys.executable]
    variables = build_uv_environment(environ)
    if subprocess.run([*uv, *arguments], check=False, env=variables).returncode == 0:
        return 0
    sys.stderr.write("uv could not install the packages. pip tries, which takes minutes.\n")
    return subprocess.run([*pip, *arguments], check=False, env=environ).returncode


if __name__ == "__main__":
    sys.exit(install(sys.argv[1:], os.environ))
