"""Draw charts within requests."""

from threading import BoundedSemaphore

from app.engines import charts
from app.engines.charts import Chart, ChartNotDrawn, ImageKind
from app.engines.sandbox import SandboxUnavailable
from app.kit import errors

_RETRY_SECONDS = 5
# Drawing a chart takes up to 20 s and blocks a thread. The other threads stay free for requests.
_slot = BoundedSemaphore(1)


def draw(chart: Chart, kind: ImageKind) -> bytes:
    """Return the image of a chart. An API process draws one chart at a time.

    Raises 503 `service_unavailable` if another chart is being drawn, or if drawing fails.
    """
    if not _slot.acquire(blocking=False):
        raise _build_busy_error("Another chart is being drawn.")
    try:
        return charts.render(chart, kind)
    except (ChartNotDrawn, SandboxUnavailable) as failure:
        raise _build_busy_error("The chart could not be drawn.") from failure
    finally:
        _slot.release()


def _build_busy_error(reason: str) -> errors.ApiError:
    return errors.busy(
        f"{reason} Repeat the request in a moment, or request JSON.", retry_after=_RETRY_SECONDS
    )
