"""The interface to gunicorn: start, heartbeat and graceful stop of a worker."""

import os
import time

from gunicorn.workers import base

from app.kit.serving import supervision
from app.kit.serving.balance import ConnectionCount
from app.kit.serving.limits import ClientLimits
from app.kit.serving.loop import EventLoop
from app.kit.serving.pool import ThreadPool
from app.kit.serving.refusals import RefusalRenderer
from app.kit.serving.sockets import Sockets
from app.kit.settings import Settings

_HEARTBEAT_SECONDS = 1.0


class BufferingWorker(base.Worker):  # type: ignore[misc]
    """A gunicorn worker whose threads receive only complete requests."""

    def build_limits(self, settings: Settings) -> ClientLimits:
        """Return the limits that apply to the clients of this process."""
        return ClientLimits.from_settings(settings, self.cfg)

    def run(self) -> None:
        """Serve requests until this worker must stop, and then finish open requests.

        Without the supervisor, the worker also stops when its master exits.
        """
        settings = Settings.from_env(os.environ)
        sockets = Sockets(
            self.build_limits(settings), RefusalRenderer(settings), ConnectionCount(self.age)
        )
        pool = ThreadPool(self.wsgi, sockets, self.cfg)
        loop = EventLoop(self.sockets, sockets, pool)
        pool.start(self.cfg.threads)
        loop.start(self.PIPE[0])
        supervision.report_ready()
        heartbeat_at = 0.0
        while self.alive and pool.served_count < self.max_requests:
            loop.run_once()
            now = time.monotonic()
            if now - heartbeat_at >= _HEARTBEAT_SECONDS:
                heartbeat_at = now
                self._send_heartbeat()
        self._drain(loop, sockets)

    def _send_heartbeat(self) -> None:
        self.notify()
        if os.getppid() == self.ppid:
            return
        if supervision.is_supervised():
            supervision.restart_watchdog(self.cfg.timeout)
        else:
            self.alive = False

    def _drain(self, loop: EventLoop, sockets: Sockets) -> None:
        loop.drain()
        for listener in self.sockets:
            listener.close()
        deadline = time.monotonic() + self.cfg.graceful_timeout
        while len(sockets.table) and time.monotonic() < deadline:
            self._send_heartbeat()
            loop.run_once()

    def handle_exit(self, sig: int, frame: object) -> None:  # noqa: ARG002 - gunicorn's signature
        """Stop gracefully on SIGTERM. The signal also interrupts the wait in the loop."""
        self.alive = False
