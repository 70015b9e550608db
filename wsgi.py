"""The WSGI application that gunicorn serves."""

import os

from app.factory import create_app
from app.kit.logging import log_uncaught_exceptions

log_uncaught_exceptions()
# The `flask` command loads this module, too; the operator's commands need no API.
app = create_app(with_api=os.environ.get("FLASK_RUN_FROM_CLI") != "true")
