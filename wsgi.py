"""The WSGI application that gunicorn serves."""

import gc
import os

# Objects created during loading are kept, and searching them for garbage would take a seventh of
# the loading time.
gc.disable()

from app.factory import create_app  # noqa: E402
from app.kit.logging import log_uncaught_exceptions  # noqa: E402

log_uncaught_exceptions()
# The `flask` command also loads this module; the operator's commands need no API.
_is_command = os.environ.get("FLASK_RUN_FROM_CLI") == "true"
app = create_app(with_api=not _is_command)
if _is_command:
    # At exit, Python would otherwise search all objects for garbage, which takes a second.
    gc.freeze()
gc.enable()
