"""Encode charts as JSON for the process that renders them, and decode this JSON."""

import json
from dataclasses import asdict
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

_CHART_TYPES = {
    chart.__name__: chart for chart in (TrendChart, CalibrationChart, ConfusionChart, PairChart)
}

IMAGE_FRAME = b"P"
"""The type of the frame that contains the rendered image."""


def encode(chart: Chart) -> bytes:
    """Encode a chart as JSON."""
    chart_type = type(chart).__name__
    try:
        return orjson.dumps({"type": chart_type, "chart": chart})
    except orjson.JSONEncodeError:  # a lone surrogate, which only `json` encodes
        message = {"type": chart_type, "chart": asdict(chart)}
        return json.dumps(message, default=date.isoformat).encode()


def decode(data: bytes) -> Chart:
    """Decode a chart from JSON that `encode` returned."""
    message = json.loads(data)
    chart_type, content = _CHART_TYPES[message["type"]], message["chart"]
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
