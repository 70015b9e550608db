"""The pool of threads that send attempts."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from app.delivery.webhooks.queries.leases import Attempt
from app.kit.logging import get_logger

log = get_logger(__name__)

SendAttempt = Callable[[Attempt], None]


class _Task:
    """A call that either runs once or is cancelled."""

    def __init__(self, send: SendAttempt, attempt: Attempt) -> None:
        self._send = send
        self._attempt = attempt
        self._claim = Lock()

    def run(self) -> None:
        """Call the function, unless the task was cancelled."""
        if self._claim.acquire(blocking=False):
            self._send(self._attempt)

    def cancel(self) -> bool:
        """Cancel the task; return False if it has already started."""
        return self._claim.acquire(blocking=False)


class SenderPool:
    """A thread pool that reports when the process cannot start another thread."""

    def __init__(self, threads: int) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="webhook")

    def submit(self, send: SendAttempt, attempt: Attempt) -> bool:
        """Call `send` with an attempt in another thread.

        Returns False, and never calls `send`, if the system refuses to start a thread.
        """
        task = _Task(send, attempt)
        try:
            self._executor.submit(task.run)
        except Exception:
            log.exception("webhook.thread_missing", delivery=str(attempt.id))
            # The executor queues a task before it starts a thread. So a thread that becomes idle
            # would run the task later, when the attempt may have been requeued.
            return not task.cancel()
        return True

    def shut_down(self) -> None:
        """Drop the tasks that have not started, and accept no more tasks."""
        self._executor.shutdown(wait=False, cancel_futures=True)
