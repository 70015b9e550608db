"""Read the processes and the environment of a service that stand_in_service.py started."""

import json
import urllib.request
from pathlib import Path

SCRIPT = str(Path(__file__).with_name("stand_in_service.py"))


def list_children(base: dict[str, str]) -> dict[str, int]:
    """Return the process ids of the children by name."""
    found: dict[str, int] = json.loads((Path(base["DATA_DIR"]) / "running.json").read_text())[
        "children"
    ]
    return found


def get_api_variable(base: dict[str, str], name: str) -> str:
    """Return a variable of the API's environment."""
    url = f"http://127.0.0.1:{base['PORT']}/{name}"
    with urllib.request.urlopen(url, timeout=30) as answer:
        return str(answer.read().decode())
