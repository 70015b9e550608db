"""Specify the application's processes, and check whether they are ready."""

import signal
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

from app.kit.serving.supervision import LISTENER_ENV
from app.kit.settings import Settings
from devserver.child import ChildSpec
from devserver.handover import Handover
from devserver.listener import Listener
from devserver.prepare import PROGRESS_FD
from devserver.process import Launch
from devserver.processes import list_tree

ROOT = Path(__file__).parents[1]
MIGRATIONS = ROOT / "migrations" / "versions"
API, WORKERS = "API", "workers"
_PROCESSES_BEFORE_RELAY = 2
_API_STOP_SIGNALS = ((signal.SIGTERM, 33.0), (signal.SIGQUIT, 2.0))


# By default, the C library keeps a memory pool for each thread and never returns its memory.
_MEMORY_VARIABLES: Mapping[str, str] = {"MALLOC_ARENA_MAX": "2"}


def _build_launch(
    *arguments: str, env: Mapping[str, str], pass_fds: tuple[int, ...] = ()
) -> Launch:
    argv = (sys.executable, *arguments)
    return Launch(argv=argv, cwd=ROOT, env={**_MEMORY_VARIABLES, **env}, pass_fds=pass_fds)


def build_api_spec(env: Mapping[str, str], listener: Listener, worker_count: int) -> ChildSpec:
    """Return the spec for gunicorn, which completes running requests before it exits.

    The supervisor owns the socket. If a gunicorn master is killed, its workers keep running until
    the workers of the next master are ready. Therefore no connection is refused in the meantime.
    """
    handover = Handover(worker_count, _API_STOP_SIGNALS[0][1])
    launch = _build_launch(
        *("-m", "gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"),
        env={**env, LISTENER_ENV: str(listener.fileno()), **handover.environment},
        pass_fds=(listener.fileno(), *handover.descriptors),
    )
    return ChildSpec(API, lambda: launch, stop_signals=_API_STOP_SIGNALS, handover=handover)


def build_workers_spec(env: Mapping[str, str]) -> ChildSpec:
    """Return the spec for the relay and the RQ workers.

    Jobs that do not finish before the process is stopped run again later.
    """
    launch = _build_launch("worker.py", env=env)
    return ChildSpec(WORKERS, lambda: launch, stop_signals=((signal.SIGTERM, 30.0),))


def build_prepare_launch(env: Mapping[str, str], progress_fd: int) -> Launch:
    """Return how to start `devserver.prepare`, which reports its progress to `progress_fd`."""
    child_env = {**env, PROGRESS_FD: str(progress_fd)}
    return _build_launch("-m", "devserver", "prepare", env=child_env, pass_fds=(progress_fd,))


def get_local_host(settings: Settings) -> str:
    """Return the address at which programs on this machine reach the API."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104


def get_local_url(settings: Settings) -> str:
    """Return the URL of the API for programs on this machine."""
    host = get_local_host(settings)
    return f"http://[{host}]:{settings.port}" if ":" in host else f"http://{host}:{settings.port}"


class ReadinessProbe:
    """A check with GET /health/ready that does not wait for the response.

    gunicorn accepts connections before its workers have loaded the application. Therefore one
    request stays open between calls, instead of a new request for each call. The probe uses plain
    sockets, because http.client would increase the supervisor's memory by a third.
    """

    _REQUEST = b"GET /health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

    def __init__(self, settings: Settings) -> None:
        self._address = (get_local_host(settings), settings.port)
        self._connection: socket.socket | None = None

    def check_ready(self) -> bool:
        """Send a request if none is open, and return whether a response with status 200 arrived."""
        try:
            if self._connection is None:
                self._connection = socket.create_connection(self._address, timeout=1.0)
                self._connection.sendall(self._REQUEST)
                self._connection.setblocking(False)  # noqa: FBT003 - the standard library's signature
            response = self._connection.recv(64)
        except BlockingIOError:
            return False
        except OSError:
            response = b""
        self._close()
        return response.split()[1:2] == [b"200"]

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def has_relay_started(pid: int | None) -> bool:
    """Return whether the parent process of the workers has started the relay.

    `pid` is the process id of this parent, or None if the parent is not running.
    """
    # Before the relay, the tree contains only this parent and the launcher of the fork server.
    return pid is not None and len(list_tree(pid)) > _PROCESSES_BEFORE_RELAY
