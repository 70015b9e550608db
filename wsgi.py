"""The WSGI application that gunicorn serves."""

from app.factory import create_app
from app.kit.logging import log_uncaught_exceptions

log_uncaught_exceptions()
app = create_app()
