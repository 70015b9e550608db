"""Draw charts; runs only in sandboxed processes.

The fork server imports this module once. The application itself must not import it.
"""

import importlib
import os
import tempfile
from typing import Any, BinaryIO

from app.engines.charts.codec import decode
from app.engines.sandbox import Send

PICTURE = b"P"
"""The type of the frame with the bytes of the picture."""


def _preload() -> Any:
    """Import matplotlib, with its font list in a temporary folder that is deleted afterwards.

    No font may be opened here, because a process closes the files that it inherits.
    """
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("MPLCONFIGDIR", folder)
        return importlib.import_module("app.engines.charts.drawing")


_DRAWING = _preload()


def draw_chart(document: BinaryIO, arguments: dict[str, Any], send: Send) -> None:
    """Send the picture of the chart in `document` as a frame `PICTURE`."""
    send(PICTURE, _DRAWING.draw(decode(document.read()), arguments["kind"]))
