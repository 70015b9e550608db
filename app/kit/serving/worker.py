"""The interface to gunicorn: start, heartbeat and graceful stop of a worker."""

import os
import time

from gunicorn.workers import base

from app.kit.serving import supervision
from app.kit.serving.balance import ConnectionCount
from app.kit.serving.limits import Limits
from app.kit.serving.loop import Loop
from app.kit.serving.pool import Pool
from app.kit.serving.refusals import Refusals
from app.kit.serving.sockets import Sockets
from app.kit.settings import Settings

_HEARTBEAT_SECONDS = 1.0


class BufferingWorker(base.Worker):  # type: ignore[misc]
    """A gunicorn worker whose threads only get complete requests."""

    def build_limits(self, settings: Settings) -> Limits:
        """Return the limits for the clients of this process."""
        return Limits.from_settings(settings, self.cfg)

    def run(self) -> None:
        """Serve until the master stops this worker or has ended; then finish open requests."""
        settings = Settings.from_env(os.environ)
        sockets = Sockets(
            self.build_limits(settings), Refusals(settings), ConnectionCount(self.age)
        )
        pool = Pool(self.wsgi, sockets, self.cfg)
        loop = Loop(self.sockets, sockets, pool)
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

    def _drain(self, loop: Loop, sockets: Sockets) -> None:
        loop.drain()
        for listener in self.sockets:
            listener.close()
        until = time.monotonic() + self.cfg.graceful_timeout
        while len(sockets.table) and time.monotonic() < until:
            self._send_heartbeat()
            loop.run_once()

    def handle_exit(self, sig: int, frame: object) -> None:  # noqa: ARG002 - gunicorn's signature
        """Stop gracefully (SIGTERM); the signal also ends the wait of the loop."""
        self.alive = False
