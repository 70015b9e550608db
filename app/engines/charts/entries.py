"""Render charts; runs only in sandboxed processes.

The fork server imports this module once. The application itself must not import it, because the
import loads matplotlib.
"""

import os
import tempfile
from collections.abc import Callable
from typing import Any, BinaryIO

from app.engines.charts.codec import IMAGE_FRAME, decode
from app.engines.charts.model import Chart, PictureFormat
from app.engines.sandbox.model import Send


def _preload() -> Callable[[Chart, PictureFormat], bytes]:
    """Import matplotlib, and return the function that renders a chart.

    Matplotlib writes its list of fonts to a temporary folder, which is deleted after the import. No
    font may be opened during the import, because a child process closes inherited files.
    """
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("MPLCONFIGDIR", folder)
        from app.engines.charts import drawing  # noqa: PLC0415 - needs the folder

        return drawing.render_chart


_RENDER_CHART = _preload()


def render_chart(document: BinaryIO, arguments: dict[str, Any], send: Send) -> None:
    """Render a chart, and send the image as an `IMAGE_FRAME`.

    `document` contains the chart as `codec.encode` returned it; `arguments` has `picture_format`.
    """
    send(IMAGE_FRAME, _RENDER_CHART(decode(document.read()), arguments["picture_format"]))
