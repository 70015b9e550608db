"""Configuration for gunicorn, which is started as `gunicorn -c gunicorn.conf.py wsgi:app`."""

import gc
import os
import sys
from pathlib import Path
from typing import Any

from gunicorn.glogging import Logger

from app.engines.documents.processes import start_server
from app.kit import logging, server_urls
from app.kit.serving import balance, supervision
from app.kit.serving.limits import raise_descriptor_limit
from app.kit.settings import Settings, SettingsError

try:
    _settings = Settings.from_env(os.environ)
    server_urls.check(_settings)
except SettingsError as _error:
    sys.exit(str(_error))

_bind_host = f"[{_settings.host}]" if ":" in _settings.host else _settings.host
bind = [supervision.get_bind_address(f"{_bind_host}:{_settings.port}")]
worker_class = "app.kit.serving.worker.BufferingWorker"
workers = _settings.web_workers
threads = _settings.web_threads
worker_connections = raise_descriptor_limit(_settings.web_connections)
# The master creates the application once, and its workers share that memory. This is safe because
# creating it opens no connection and starts no thread.
preload_app = True
_APPLICATION = "wsgi:app"
# Nothing uses the control socket, and it would be an additional attack surface.
control_socket_disable = True

# The supervisor waits three seconds longer than this before it sends SIGQUIT.
graceful_timeout = 30
# The maximum time in seconds without a heartbeat. A worker starts slowly on a busy machine.
timeout = 60
# Common proxies close an idle connection after 60 s. This timeout is longer. Otherwise a proxy
# would sometimes send a request over a connection that this server has just closed. An idle
# connection occupies no thread.
keepalive = 75
# Each heartbeat of a worker updates the timestamp of a file. The file is in memory, because the
# master must not kill workers when a disk hangs.
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108

# The request line contains the cursors and filters of lists. `app.kit.serving` limits bodies.
limit_request_line = 8190
limit_request_fields = 100
limit_request_field_size = 8190
# Only the application evaluates the X-Forwarded-* headers, according to TRUSTED_PROXIES.
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}

# The application logs requests itself, with their request ids.
accesslog = None
errorlog = "-"
loglevel = "warning"
proc_name = "labeling-api"
chdir = str(Path(__file__).parent)


class LineLogger(Logger):  # type: ignore[misc]
    """Writes gunicorn's log lines in the format of the application, without blocking.

    The setting `logconfig_dict` would also achieve this, but gunicorn would then prepare an access
    log entry for every request.
    """

    def setup(self, cfg: Any) -> None:
        """Let the application's handler write the lines. gunicorn calls this at each reload."""
        super().setup(cfg)
        logging.configure(_settings.log_level, _settings.log_format)


logger_class = LineLogger


def on_starting(server: Any) -> None:
    """Prepare the memory that workers share.

    The garbage collector must not write to this memory, because each worker would then get a copy.
    """
    if server.app.app_uri == _APPLICATION:
        # The low priority lets API requests run first. Until its first document, the server uses
        # 4 MB of memory.
        start_server(idle_seconds=300, nice=10)
    gc.collect()
    gc.freeze()


def post_fork(server: Any, worker: Any) -> None:  # noqa: ARG001 - gunicorn's signature
    """Make the worker exit with the supervisor, or with the master if there is no supervisor."""
    supervision.set_death_signal(worker.ppid)


def child_exit(server: Any, worker: Any) -> None:  # noqa: ARG001 - gunicorn's signature
    """Remove the exited worker from the shared connection counts."""
    balance.remove_count(worker.age)
