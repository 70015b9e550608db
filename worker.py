"""Entry point for the background processes: the relay, job workers and webhook dispatcher."""

import gc
import os
from functools import partial

# The objects that loading creates stay alive. Running the garbage collector meanwhile would take a
# seventh of the loading time and free nothing.
gc.disable()

from app.engines.documents.processes import start_server  # noqa: E402
from app.factory import create_app  # noqa: E402
from app.kit import container  # noqa: E402
from app.kit.jobs import processes  # noqa: E402
from app.kit.logging import install_exception_hooks  # noqa: E402

_IDLE_SECONDS = 900.0


def start_document_server() -> None:
    """Start the fork server for documents. All workers share it and inherit its socket.

    The server has a low priority, so that API requests run first. It exits when it is idle, which
    saves 40 MB. A worker starts a new server, if there is none, before it forks for its next jobs.
    """
    slots = container.settings().job_workers + 1
    start = partial(start_server, max_processes=slots, idle_seconds=_IDLE_SECONDS, nice=5)
    start()
    os.register_at_fork(before=start)


if __name__ == "__main__":
    install_exception_hooks()
    application = create_app(with_api=False)
    gc.enable()
    start_document_server()
    raise SystemExit(processes.main(application))
