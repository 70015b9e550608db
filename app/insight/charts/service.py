"""Render charts during requests."""

from threading import BoundedSemaphore

from app.engines.charts import service as charts
from app.engines.charts.model import Chart, ChartNotRendered, PictureFormat
from app.engines.sandbox.model import SandboxUnavailable
from app.kit import errors

_RETRY_SECONDS = 5
# Rendering a chart takes up to 20 s and blocks a thread. Only one chart is rendered at a time, so
# that the other threads stay free for requests.
_render_slot = BoundedSemaphore(1)


def render_chart(chart: Chart, picture_format: PictureFormat) -> bytes:
    """Render a chart, and return the image. Each API process renders one chart at a time.

    Raises 503 `service_unavailable` if another chart is being rendered, or if rendering fails.
    """
    if not _render_slot.acquire(blocking=False):
        raise _build_busy_error("Another chart is being rendered.")
    try:
        return charts.render(chart, picture_format)
    except (ChartNotRendered, SandboxUnavailable) as failure:
        raise _build_busy_error("The chart could not be rendered.") from failure
    finally:
        _render_slot.release()


def _build_busy_error(reason: str) -> errors.ApiError:
    return errors.busy(
        f"{reason} Try again in a few seconds, or request JSON.", retry_after=_RETRY_SECONDS
    )
