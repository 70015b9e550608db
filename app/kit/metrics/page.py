"""The page that Prometheus scrapes. It shows the sums from the store, and the current gauges."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from app.kit.logging import get_logger
from app.kit.metrics.counters import METRICS, SUM, Counter, Histogram, SeriesKey, get_bucket_name
from app.kit.metrics.store import STORE

log = get_logger(__name__)


class Gauge(NamedTuple):
    """A metric whose values are read when the page is rendered.

    It has one series for each combination of label values.
    """

    name: str
    documentation: str
    label_names: tuple[str, ...] = ()

    def build_reading(self, value: float, *label_values: str) -> "GaugeReading":
        """Return a `GaugeReading` with this value and these label values."""
        return GaugeReading(self, label_values, value)


class GaugeReading(NamedTuple):
    """The current value of one series of a gauge, whose `label_names` name the `label_values`."""

    gauge: Gauge
    label_values: tuple[str, ...]
    value: float


STORE_UP = Gauge(
    "labeling_metrics_store_up",
    "1 while Redis responds, else 0. While it is 0, this page has no counters and histograms.",
)
COLLECTOR_FAILURES = Counter("labeling_collector_failures", "Failed attempts to read gauges.")

GaugeCollector = Callable[[], Iterable[GaugeReading]]
_collectors: dict[str, GaugeCollector] = {}


def register_collector(name: str, collector: GaugeCollector) -> None:
    """Register a function that `render` calls to read gauges.

    If a collector raises an exception, the failure is counted, and the gauges of this collector are
    left out. Raises ValueError if the name is already in use.
    """
    if name in _collectors:
        raise ValueError(f"the collector {name} is already registered")
    _collectors[name] = collector


def render() -> tuple[bytes, str]:
    """Return all metrics in the Prometheus text format, and the content type of the response.

    While Redis is down, counters and histograms are left out. Prometheus would interpret the counts
    of this process alone as a counter reset, and the next complete sum as an increase.
    """
    sums = STORE.read()
    readings = [STORE_UP.build_reading(0 if sums is None else 1), *_read_gauges()]
    registry = CollectorRegistry()
    registry.register(_PageCollector(sums, readings))
    return generate_latest(registry), CONTENT_TYPE_LATEST


class _PageCollector(Collector):
    def __init__(
        self, sums: Mapping[SeriesKey, float] | None, readings: Sequence[GaugeReading]
    ) -> None:
        self._sums = sums
        self._readings = readings

    def collect(self) -> Iterable[Metric]:
        yield from _build_gauges(self._readings)
        if self._sums is not None:
            yield from _build_counted_metrics(self._sums)


def _read_gauges() -> Iterator[GaugeReading]:
    for name, collector in list(_collectors.items()):
        try:
            readings = list(collector())
        except Exception:  # metrics are most important while something is down
            COLLECTOR_FAILURES.inc()
            log.warning("metrics.collector_failed", collector=name, exc_info=True)
            continue
        yield from readings


def _build_gauges(readings: Iterable[GaugeReading]) -> Iterable[Metric]:
    """Return the gauges as metric families.

    If a series has several readings, only the first is used, because Prometheus rejects a page that
    contains a series twice.
    """
    families: dict[str, GaugeMetricFamily] = {}
    added_series: set[tuple[str, tuple[str, ...]]] = set()
    for gauge, labels, value in readings:
        if (gauge.name, labels) in added_series:
            log.error("metrics.series_repeated", metric=gauge.name, labels=labels)
            continue
        added_series.add((gauge.name, labels))
        if gauge.name not in families:
            families[gauge.name] = GaugeMetricFamily(*gauge[:2], labels=gauge.label_names)
        families[gauge.name].add_metric(labels, value)
    return families.values()


def _build_counted_metrics(sums: Mapping[SeriesKey, float]) -> Iterator[Metric]:
    by_metric: dict[str, dict[tuple[str, ...], dict[str, float]]] = {}
    for (name, labels, part), value in sums.items():
        by_metric.setdefault(name, {}).setdefault(labels, {})[part] = value
    for name, metric in METRICS.items():
        series = by_metric.get(name, {})
        # Another release may have used other labels.
        matching_series = {
            series_labels: parts
            for series_labels, parts in series.items()
            if len(series_labels) == len(metric.label_names)
        }
        for labels in metric.at_start:
            matching_series.setdefault(labels, {})
        yield (
            _build_histogram(metric, matching_series)
            if isinstance(metric, Histogram)
            else _build_counter(metric, matching_series)
        )


def _build_counter(
    metric: Counter, series: Mapping[tuple[str, ...], Mapping[str, float]]
) -> Metric:
    family = CounterMetricFamily(metric.name, metric.documentation, labels=metric.label_names)
    for labels, parts in series.items():
        family.add_metric(labels, parts.get("", 0.0))
    return family


def _build_histogram(
    metric: Histogram, series: Mapping[tuple[str, ...], Mapping[str, float]]
) -> Metric:
    family = HistogramMetricFamily(metric.name, metric.documentation, labels=metric.label_names)
    for labels, parts in series.items():
        counts = accumulate(parts.get(get_bucket_name(bound), 0.0) for bound in metric.bounds)
        names = [_format_bound(bound) for bound in metric.bounds]
        family.add_metric(labels, list(zip(names, counts, strict=True)), parts.get(SUM, 0.0))
    return family


def _format_bound(bound: float) -> str:
    return "+Inf" if bound == float("inf") else str(bound)
