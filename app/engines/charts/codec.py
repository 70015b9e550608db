"""Send charts to the process that draws them, as JSON."""

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

_TYPES = {each.__name__: each for each in (TrendChart, CalibrationChart, ConfusionChart, PairChart)}


def encode(chart: Chart) -> bytes:
    """Return a chart as bytes. Half a surrogate pair, which JSON cannot hold, is left out."""
    try:
        return orjson.dumps({"type": type(chart).__name__, "chart": chart})
    except orjson.JSONEncodeError:
        return orjson.dumps({"type": type(chart).__name__, "chart": _clean(chart)})


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "ignore").decode()
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: _clean(getattr(value, name)) for name in value.__dataclass_fields__}
    return value


def decode(data: bytes) -> Chart:
    """Return the chart that `encode` wrote."""
    message = orjson.loads(data)
    chart_type, content = _TYPES[message["type"]], message["chart"]
    if chart_type is TrendChart:
        content["series"] = [_decode_series(each) for each in content["series"]]
    elif chart_type is CalibrationChart:
        content["bins"] = [CalibrationBin(**each) for each in content["bins"]]
    elif chart_type is PairChart:
        content["values"] = [tuple(each) for each in content["values"]]
    chart: Chart = chart_type(**content)
    return chart


def _decode_series(content: dict[str, Any]) -> Series:
    points = [
        Point(**{**each, "day": date.fromisoformat(each["day"])}) for each in content["points"]
    ]
    return Series(content["name"], points)
