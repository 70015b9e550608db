"""gunicorn's configuration: `gunicorn -c gunicorn.conf.py wsgi:app`."""

import gc
import os
import sys
from pathlib import Path
from typing import Any

from gunicorn.glogging import Logger

from app.engines import documents
from app.kit import logging
from app.kit.serving import balance, supervision
from app.kit.serving.limits import reserve_descriptors
from app.kit.settings import Settings, SettingsError

try:
    _settings = Settings.from_env(os.environ)
except SettingsError as _error:
    sys.exit(str(_error))

_shown_host = f"[{_settings.host}]" if ":" in _settings.host else _settings.host
bind = [supervision.bind(f"{_shown_host}:{_settings.port}")]
worker_class = "app.kit.serving.worker.BufferingWorker"
workers = _settings.web_workers
threads = _settings.web_threads
worker_connections = reserve_descriptors(_settings.web_connections)
# The master creates the application once, and its workers share that memory. This is safe because
# creating it opens no connection and starts no thread.
preload_app = True
_APPLICATION = "wsgi:app"
# Nobody talks to it, and it would be one more way in.
control_socket_disable = True

# The supervisor gives it three seconds more.
graceful_timeout = 30
# A worker loads the application before its first sign of life, on a busy machine slowly.
timeout = 60
# Longer than the 60 s after which the usual proxies drop an idle connection. Otherwise one would
# now and then send a request down a connection that this end has just closed. An idle connection
# holds no thread.
keepalive = 75
# The sign of life is a file's time stamp: in memory, as a disk that hangs must not kill workers.
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108

# Cursors and filters of lists stand in the line. The size of bodies is the application's matter.
limit_request_line = 8190
limit_request_fields = 100
limit_request_field_size = 8190
# X-Forwarded-* is believed in one place, the application, by TRUSTED_PROXIES.
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}

# The application logs its requests itself, with their ids.
accesslog = None
errorlog = "-"
loglevel = "warning"
proc_name = "labeling-api"
chdir = str(Path(__file__).parent)


class LineLogger(Logger):  # type: ignore[misc]
    """Writes gunicorn's own lines as the application's: in their form, and never waiting.

    `logconfig_dict` would do so, too, but with it gunicorn prepares an access log at every request.
    """

    def setup(self, cfg: Any) -> None:
        """Leave the lines to the application's handler; called again at each reload."""
        super().setup(cfg)
        logging.configure(_settings.log_level, _settings.log_format)


logger_class = LineLogger


def on_starting(server: Any) -> None:
    """Prepare the memory that workers share.

    The collector is kept from touching it, which would copy its pages to every worker.
    """
    if server.app.app_uri == _APPLICATION:
        # Requests come before the rendering of pages. Until the first page this takes 4 MB.
        documents.start_server(idle_seconds=300, nice=10)
    gc.collect()
    gc.freeze()


def post_fork(server: Any, worker: Any) -> None:  # noqa: ARG001 - gunicorn's signature
    """Bind the worker's life to the supervisor's or the master's."""
    supervision.set_death_signal(worker.ppid)


def child_exit(server: Any, worker: Any) -> None:  # noqa: ARG001 - gunicorn's signature
    """Leave new connections to the workers that are there."""
    balance.release(worker.age)
