"""Draw charts in a small number of child processes."""

import tempfile

from app.engines.charts.codec import encode
from app.engines.charts.model import Chart, ChartNotDrawn, ImageKind
from app.engines.sandbox import ForkServer, ProcessFailed, ProcessLimits

_ENTRIES = "app.engines.charts.entries"
_PICTURE = b"P"
_MAX_PROCESSES = 2
_MAX_TOTAL_PROCESSES = 500
_IDLE_SECONDS = 120.0
_LIMITS = ProcessLimits(
    memory_bytes=1 << 30, cpu_seconds=15, wall_seconds=20.0, frame_bytes=32 << 20
)
# The server keeps the plotting library in memory, about 60 MB, while charts are requested.
_SERVER = ForkServer(
    (_ENTRIES,),
    max_processes=_MAX_PROCESSES,
    max_total_processes=_MAX_TOTAL_PROCESSES,
    idle_seconds=_IDLE_SECONDS,
)


def render(chart: Chart, kind: ImageKind) -> bytes:
    """Return the picture of a chart, drawn in a child process.

    The first call starts a server, which takes one or two seconds; the server ends after two idle
    minutes. Further calls take a few tenths of a second. Raises `ChartNotDrawn`, and
    `SandboxUnavailable` if no process could be started; answer both with 503.
    """
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(encode(chart))
        try:
            with _SERVER.run(
                f"{_ENTRIES}:draw_chart", document=file, arguments={"kind": kind}, limits=_LIMITS
            ) as process:
                for _, payload in process.frames((_PICTURE,)):
                    return payload
        except ProcessFailed as error:
            raise ChartNotDrawn(f"The chart was not drawn ({error.reason}).") from error
    raise ChartNotDrawn("The chart was not drawn.")


def stop_server() -> None:
    """Disconnect from the fork server; it ends when no other process uses it."""
    _SERVER.stop()
