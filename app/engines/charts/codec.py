"""Encode charts as JSON for the process that renders them."""

from datetime import date
from typing import Any

import orjson

from app.engines.charts.model import (
    CalibrationBin,
    CalibrationChart,
    Chart,
    ConfusionChart,
    PairChart,
    Point,
    Series,
    TrendChart,
)

_TYPES = {
    chart.__name__: chart for chart in (TrendChart, CalibrationChart, ConfusionChart, PairChart)
}


IMAGE_FRAME = b"P"
"""The type of the frame that contains the rendered image."""


def encode(chart: Chart) -> bytes:
    """Encode a chart as JSON. Lone surrogates, which JSON does not allow, are removed."""
    try:
        return orjson.dumps({"type": type(chart).__name__, "chart": chart})
    except orjson.JSONEncodeError:
        return orjson.dumps({"type": type(chart).__name__, "chart": _remove_surrogates(chart)})


def _remove_surrogates(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "ignore").decode()
    if isinstance(value, list | tuple):
        return [_remove_surrogates(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return {
            name: _remove_surrogates(getattr(value, name)) for name in value.__dataclass_fields__
        }
    return value


def decode(data: bytes) -> Chart:
    """Decode a chart from JSON that `encode` returned."""
    message = orjson.loads(data)
    chart_type, content = _TYPES[message["type"]], message["chart"]
    if chart_type is TrendChart:
        content["series"] = [_decode_series(item) for item in content["series"]]
    elif chart_type is CalibrationChart:
        content["bins"] = [CalibrationBin(**item) for item in content["bins"]]
    elif chart_type is PairChart:
        content["values"] = [tuple(item) for item in content["values"]]
    chart: Chart = chart_type(**content)
    return chart


def _decode_series(content: dict[str, Any]) -> Series:
    points = [
        Point(**{**point, "day": date.fromisoformat(point["day"])}) for point in content["points"]
    ]
    return Series(content["name"], points)
