"""Render charts; runs only in sandboxed processes.

The fork server imports this module once. The application itself must not import it.
"""

import importlib
import os
import tempfile
from typing import Any, BinaryIO

from app.engines.charts.codec import IMAGE_FRAME, decode
from app.engines.sandbox import Send


def _preload() -> Any:
    """Import matplotlib, with its font list in a temporary folder that is deleted afterwards.

    No font may be opened during the import, because a child process closes inherited files.
    """
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("MPLCONFIGDIR", folder)
        return importlib.import_module("app.engines.charts.drawing")


_DRAWING = _preload()


def render_chart(document: BinaryIO, arguments: dict[str, Any], send: Send) -> None:
    """Render a chart, and send the image as an `IMAGE_FRAME`.

    `document` contains the chart as `codec.encode` returned it.
    """
    send(IMAGE_FRAME, _DRAWING.render_chart(decode(document.read()), arguments["kind"]))
