"""The background processes: the relay, the workers of the queues, and the webhook deliverer."""

import gc
import os
from functools import partial

# Objects created during loading are kept, and searching them for garbage would take a seventh of
# the loading time.
gc.disable()

from app.engines import documents  # noqa: E402
from app.factory import create_app  # noqa: E402
from app.kit import container  # noqa: E402
from app.kit.jobs import processes  # noqa: E402
from app.kit.logging import log_uncaught_exceptions  # noqa: E402

_IDLE_SECONDS = 900.0


def start_document_server() -> None:
    """Start the fork server for documents. All workers share it and inherit its socket.

    It has a low priority, so that API requests run first. If the server has ended, a worker starts
    a new one before it forks for its next jobs. An idle server ends, which saves 40 MB.
    """
    slots = container.settings().job_workers + 1
    start = partial(documents.start_server, max_processes=slots, idle_seconds=_IDLE_SECONDS, nice=5)
    start()
    os.register_at_fork(before=start)


if __name__ == "__main__":
    log_uncaught_exceptions()
    application = create_app(with_api=False)
    gc.enable()
    start_document_server()
    raise SystemExit(processes.main(application))
