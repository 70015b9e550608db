"""Write what the web application takes from the code of the service.

`build/openapi.json` is the API description, and `src/kit/session/permissions.json` the role that
each permission requires. `npm run types` calls this before it generates the types. No server is
needed.
"""

import json
import sys
from pathlib import Path

from flask import Flask

ROOT = Path(__file__).resolve().parents[1]
WEB = ROOT / "web"
PERMISSIONS_FILE = WEB / "src" / "kit" / "session" / "permissions.json"
sys.path.insert(0, str(ROOT))


def build_description() -> bytes:
    """Return the API description that the service serves."""
    from app import endpoints  # noqa: PLC0415 - needs the path
    from app.kit.api import documentation  # noqa: PLC0415

    app = Flask("app", static_folder=None)
    documentation.init(app, endpoints.BLUEPRINTS, endpoints.WEBHOOKS, "http://localhost")
    return app.test_client().get("/openapi.json").data


def build_permissions() -> str:
    """Return the permissions with their roles as JSON."""
    from app.kit.permissions import PERMISSIONS, Role  # noqa: PLC0415

    table = {
        "roles": [role.name for role in sorted(Role)],
        "permissions": {name: role.name for name, role in sorted(PERMISSIONS.items())},
    }
    return json.dumps(table, indent=2) + "\n"


def main() -> None:
    """Write both files."""
    build = WEB / "build"
    build.mkdir(exist_ok=True)
    (build / "openapi.json").write_bytes(build_description())
    permissions = build_permissions()
    if PERMISSIONS_FILE.read_text() != permissions:
        # Only then: the build of the application depends on the file.
        PERMISSIONS_FILE.write_text(permissions)


if __name__ == "__main__":
    main()
