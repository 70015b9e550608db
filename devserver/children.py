"""How the supervisor starts the service's own processes."""

import signal
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

from app.kit.serving.supervision import LISTENER
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
_API_STOPS = ((signal.SIGTERM, 33.0), (signal.SIGQUIT, 2.0))


# The C library would keep a pool of memory for each thread, which none of them gives back.
_MEMORY: Mapping[str, str] = {"MALLOC_ARENA_MAX": "2"}


def _build_launch(
    *arguments: str, env: Mapping[str, str], pass_fds: tuple[int, ...] = ()
) -> Launch:
    argv = (sys.executable, *arguments)
    return Launch(argv=argv, cwd=ROOT, env={**_MEMORY, **env}, pass_fds=pass_fds)


def build_api(env: Mapping[str, str], listener: Listener, workers: int) -> ChildSpec:
    """Return the spec of gunicorn with `workers`; running requests end before it stops.

    The supervisor owns the socket, and workers outlive their master until the next master's workers
    are ready. So the death of a master refuses no connection.
    """
    handover = Handover(workers, _API_STOPS[0][1])
    launch = _build_launch(
        *("-m", "gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"),
        env={**env, LISTENER: str(listener.fileno()), **handover.environment},
        pass_fds=(listener.fileno(), *handover.descriptors),
    )
    return ChildSpec(API, lambda: launch, stops=_API_STOPS, handover=handover)


def build_workers(env: Mapping[str, str]) -> ChildSpec:
    """Return the spec of the relay and the RQ workers. Jobs that exceed the deadline run again."""
    launch = _build_launch("worker.py", env=env)
    return ChildSpec(WORKERS, lambda: launch, stops=((signal.SIGTERM, 30.0),))


def build_prepare(env: Mapping[str, str], progress_fd: int) -> Launch:
    """Return how to start `devserver.prepare`, which writes its progress to `progress_fd`."""
    told = {**env, PROGRESS_FD: str(progress_fd)}
    return _build_launch("-m", "devserver", "prepare", env=told, pass_fds=(progress_fd,))


def get_local_host(settings: Settings) -> str:
    """Return the host under which this machine reaches the API."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104


def get_local_url(settings: Settings) -> str:
    """Return the URL of the API for programs on this machine."""
    host = get_local_host(settings)
    return f"http://[{host}]:{settings.port}" if ":" in host else f"http://{host}:{settings.port}"


class ReadinessProbe:
    """Non-blocking requests of GET /health/ready.

    gunicorn accepts connections before its workers have loaded the application. So one request
    stays open between the calls, instead of one more at each call. It uses plain sockets, because
    http.client would increase the supervisor's memory by a third.
    """

    _REQUEST = b"GET /health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

    def __init__(self, settings: Settings) -> None:
        self._address = (get_local_host(settings), settings.port)
        self._waiting: socket.socket | None = None

    def ask(self) -> bool:
        """Return whether a response with status 200 has arrived."""
        try:
            if self._waiting is None:
                self._waiting = socket.create_connection(self._address, timeout=1.0)
                self._waiting.sendall(self._REQUEST)
                self._waiting.setblocking(False)  # noqa: FBT003 - the standard library's signature
            answer = self._waiting.recv(64)
        except BlockingIOError:
            return False
        except OSError:
            answer = b""
        self._close()
        return answer.split()[1:2] == [b"200"]

    def _close(self) -> None:
        if self._waiting is not None:
            self._waiting.close()
            self._waiting = None


def workers_are_ready(pid: int | None, settings: Settings) -> bool:
    """Return whether the parent of the workers has started all of them and the relay."""
    return pid is not None and len(list_tree(pid)) - 1 > settings.job_workers
