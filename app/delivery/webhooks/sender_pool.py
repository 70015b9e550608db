"""The pool of threads that send attempts."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from app.delivery.webhooks.queries.leases import Attempt
from app.kit.logging import get_logger

log = get_logger(__name__)

SendAttempt = Callable[[Attempt], None]


class SenderPool:
    """A thread pool that reports when the process cannot start another thread."""

    def __init__(self, thread_count: int) -> None:
        self._executor = ThreadPoolExecutor(thread_count, thread_name_prefix="webhook")

    def submit(self, send: SendAttempt, attempt: Attempt) -> bool:
        """Call `send` with an attempt in another thread.

        Returns False, and never calls `send`, if the system refuses to start a thread.
        """
        task: Future[None] = Future()

        def run() -> None:
            if task.set_running_or_notify_cancel():
                send(attempt)

        try:
            self._executor.submit(run)
        except Exception:
            log.exception("webhook.thread_missing", delivery=str(attempt.id))
            # The executor queues a task before it starts a thread. So a thread that becomes idle
            # would run the task later, when the attempt may have been requeued.
            return not task.cancel()
        return True

    def shut_down(self) -> None:
        """Drop the tasks that have not started, and accept no more tasks."""
        self._executor.shutdown(wait=False, cancel_futures=True)
