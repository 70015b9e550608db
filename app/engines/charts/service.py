"""Render charts in a small number of child processes."""

import tempfile

from app.engines.charts.codec import IMAGE_FRAME, encode
from app.engines.charts.model import Chart, ChartNotRendered, PictureFormat
from app.engines.sandbox.client import ForkServer
from app.engines.sandbox.model import ProcessFailed, ProcessLimits

_ENTRIES = "app.engines.charts.entries"
_LIMITS = ProcessLimits(
    memory_bytes=1 << 30, cpu_seconds=15, wall_seconds=20.0, frame_bytes=32 << 20
)
# The server keeps the plotting library in memory, about 60 MB, while charts are requested.
_SERVER = ForkServer((_ENTRIES,), max_processes=2, max_total_processes=500, idle_seconds=120.0)
stop_server = _SERVER.stop


def render(chart: Chart, picture_format: PictureFormat) -> bytes:
    """Render a chart in a child process, and return the bytes of the PNG or SVG image.

    The first call starts a server, which takes one or two seconds. The following calls take a few
    tenths of a second. The server exits after two idle minutes.

    Raises ChartNotRendered if the process failed or took too long, and SandboxUnavailable if no
    process could be started. Callers respond with 503 in both cases.
    """
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(encode(chart))
        arguments = {"picture_format": picture_format}
        try:
            with _SERVER.run(
                f"{_ENTRIES}:render_chart", document=file, arguments=arguments, limits=_LIMITS
            ) as process:
                for _, payload in process.iterate_frames((IMAGE_FRAME,)):
                    return payload
        except ProcessFailed as error:
            raise ChartNotRendered(f"The chart was not rendered ({error.reason}).") from error
    raise ChartNotRendered("The chart was not rendered.")
