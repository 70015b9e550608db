"""Run the entry function in a forked process, from the fork to the exit."""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, BinaryIO, NoReturn

from app.engines.sandbox.confinement import confine_process
from app.engines.sandbox.frames import write_frame
from app.engines.sandbox.model import DONE, ProcessLimits, Send

Entry = Callable[[BinaryIO | None, dict[str, Any], Send], None]
_FAILED_STATUS = 70


def run_entry(
    request: dict[str, Any],
    preload: Sequence[str],
    *,
    server_pid: int,
    results: int,
    document: int | None,
    file_rules: int | None,
) -> NoReturn:
    """Confine this process, call the entry function of the request, and exit.

    Control never returns to the server's code, whatever happens.
    """
    status = _FAILED_STATUS
    try:
        signal.set_wakeup_fd(-1)
        for signal_number in (signal.SIGCHLD, signal.SIGUSR1):
            signal.signal(signal_number, signal.SIG_DFL)
        keep = [results] if document is None else [results, document]
        limits = ProcessLimits(**request["limits"])
        confine_process(limits, parent=server_pid, keep=keep, file_rules=file_rules)
        entry = _get_entry(request["entry"], preload)
        document_file = None if document is None else os.fdopen(document, "rb")
        entry(document_file, request["arguments"], partial(write_frame, results))
        write_frame(results, DONE)
        status = 0
    finally:
        os._exit(status)  # skips cleanup, which the kernel does faster


def _get_entry(name: str, preload: Sequence[str]) -> Entry:
    """Return the function `module:function`, where the server has preloaded the module."""
    module, _, function = name.partition(":")
    if module not in preload:
        raise LookupError(name)
    entry: Entry = getattr(sys.modules[module], function)
    return entry
