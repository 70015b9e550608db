"""The child process: reads or draws one document under limits, and tells its parent in frames.

Started by `sandbox.Child` alone: `python -m app.engines.documents.child PARENT REQUEST PATH`.
"""

import ctypes
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38
_OPEN_FILES = 64


def main() -> None:
    """Do what the command line asks; never returns."""
    parent, request, path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    out = os.dup(1)
    os.dup2(0, 1)  # so that nothing a library prints gets between the frames
    _die_with(parent)
    import orjson  # noqa: PLC0415 - the parent's death must be seen before anything slow

    asked = orjson.loads(request)
    _confine(asked["limits"])
    _work(out, asked, Path(path))
    os._exit(0)  # no tidying up of what the kernel frees faster


def _die_with(parent: int) -> None:
    if sys.platform == "linux":
        prctl = ctypes.CDLL(None).prctl
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if os.getppid() != parent:  # it died before the kernel was told
        os._exit(1)


def _confine(limits: dict[str, Any]) -> None:
    """No more memory and time than allowed; no core, no file written, no further process."""
    cpu, memory = limits["cpu_seconds"], limits["memory_bytes"]
    for kind, soft, hard in (
        (resource.RLIMIT_CPU, cpu, cpu + 1),
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES, _OPEN_FILES),
    ):
        resource.setrlimit(kind, (soft, hard))


def _work(out: int, asked: dict[str, Any], path: Path) -> None:
    from app.engines.documents import frames  # noqa: PLC0415 - under the limits from here on
    from app.engines.documents.model import Limits, PageNotFound, ParseFailed  # noqa: PLC0415
    from app.engines.documents.readers import read, render  # noqa: PLC0415
    from app.engines.documents.sandbox import OUT_OF_MEMORY  # noqa: PLC0415

    failure: tuple[str, str]
    try:
        limits = Limits(**asked["limits"])
        if asked["do"] == "render":
            frames.write(out, frames.IMAGE, render(path, asked, limits))
        else:
            read(path, asked["media_type"], limits, lambda *frame: frames.write(out, *frame))
        frames.write(out, frames.DONE)
    except ParseFailed as error:
        failure = error.code, error.message
    except PageNotFound as error:
        frames.write_json(out, frames.MISSING, {"count": error.page_count})
        return
    except MemoryError:
        failure = "out_of_memory", OUT_OF_MEMORY
    except Exception as error:  # noqa: BLE001 - whatever a broken file makes a library raise
        failure = "unreadable", f"The document cannot be read ({type(error).__name__})."
    else:
        return
    frames.write_json(out, frames.FAILED, {"code": failure[0], "message": failure[1]})


if __name__ == "__main__":
    main()
