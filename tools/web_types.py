"""Write the files of the web application that depend on the code of the service.

The API description is written to `build/openapi.json`, and the role that each permission requires
to `src/kit/session/permissions.json`. `npm run types` runs this program before it generates the
types. No server is needed.
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
    from app import endpoints  # noqa: PLC0415 - needs ROOT in sys.path
    from app.kit.api import documentation  # noqa: PLC0415

    app = Flask("app", static_folder=None)
    documentation.init(app, endpoints.BLUEPRINTS, endpoints.WEBHOOKS, "http://localhost")
    return app.test_client().get("/openapi.json").data


def build_permissions() -> str:
    """Return all roles, and the role that each permission requires, as JSON."""
    from app.kit.permissions import PERMISSIONS, Role  # noqa: PLC0415

    table = {
        "roles": [role.name for role in sorted(Role)],
        "permissions": {name: role.name for name, role in sorted(PERMISSIONS.items())},
    }
    return json.dumps(table, indent=2) + "\n"


def main() -> None:
    """Write the API description and the permissions to their files."""
    build = WEB / "build"
    build.mkdir(exist_ok=True)
    (build / "openapi.json").write_bytes(build_description())
    permissions = build_permissions()
    if PERMISSIONS_FILE.read_text() != permissions:
        # Only a changed file is written, because make would rebuild the application otherwise.
        PERMISSIONS_FILE.write_text(permissions)


if __name__ == "__main__":
    main()
