"""The WSGI application that gunicorn serves."""

import gc
import os

# The objects that loading creates stay alive. Running the garbage collector meanwhile would take a
# seventh of the loading time and free nothing.
gc.disable()

import click  # noqa: E402

from app.factory import create_app  # noqa: E402
from app.kit.logging import install_exception_hooks  # noqa: E402
from app.kit.settings import SettingsError  # noqa: E402

install_exception_hooks()
# The `flask` command also loads this module; the operator's commands need no API.
_is_command = os.environ.get("FLASK_RUN_FROM_CLI") == "true"
try:
    app = create_app(with_api=not _is_command)
except SettingsError as error:
    if not _is_command:
        raise
    raise click.UsageError(str(error)) from None
if _is_command:
    # Otherwise Python runs the garbage collector over all objects at exit, which takes a second.
    gc.freeze()
gc.enable()
