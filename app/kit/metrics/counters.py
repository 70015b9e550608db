"""Counters and histograms. Each process keeps its increments until it sends them to the store."""

import os
from bisect import bisect_left
from collections.abc import Callable, Sequence
from threading import RLock

SeriesKey = tuple[str, tuple[str, ...], str]
"""The key of a sum: the metric name, the label values and the part. The part is an empty string for
a counter, and `sum` or the upper bound of a bucket for a histogram."""


class Increments:
    """The increments of all metrics in this process since the last call of `pop_all`.

    Increments for the same key are added up, so the memory that they use does not grow with time. A
    forked child starts with no increments, because they belong to its parent. The lock is reentrant
    because signal handlers also count.
    """

    def __init__(self) -> None:
        self.on_add: Callable[[], None] = lambda: None
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._lock = RLock()
        self._values: dict[SeriesKey, float] = {}

    def add(self, *increments: tuple[SeriesKey, float]) -> None:
        """Add one or more increments atomically."""
        with self._lock:
            for key, amount in increments:
                self._values[key] = self._values.get(key, 0.0) + amount
        self.on_add()

    def pop_all(self) -> dict[SeriesKey, float]:
        """Return all increments by key, and reset them to zero."""
        with self._lock:
            values, self._values = self._values, {}
        return values

    def copy(self) -> dict[SeriesKey, float]:
        """Return all increments by key, without resetting them."""
        with self._lock:
            return dict(self._values)


INCREMENTS = Increments()


class Counter:
    """A metric that only increases, with one series for each combination of label values.

    Declare counters at import time. Label values must come from the code and never from clients,
    because each combination is kept forever. The series in `at_start` are shown with the value 0
    before the first count, so that Prometheus sees their first increase. A counter without labels
    is always shown.
    """

    def __init__(
        self,
        name: str,
        documentation: str,
        labels: Sequence[str] = (),
        *,
        at_start: Sequence[tuple[str, ...]] = (),
    ) -> None:
        self.name = name
        self.documentation = documentation
        self.label_names = tuple(labels)
        self.at_start = tuple(at_start) if labels else ((),)
        _register_metric(self)

    def labels(self, *values: str) -> "CounterSeries":
        """Return the series for these label values, which are in the order of `label_names`."""
        return CounterSeries((self.name, _check_labels(self, values), ""))

    def show_at_start(self, *values: str) -> None:
        """Add the series for these label values to `at_start`."""
        self.at_start = tuple(dict.fromkeys((*self.at_start, _check_labels(self, values))))

    def inc(self, amount: float = 1.0) -> None:
        """Increase a counter without labels by `amount`."""
        self.labels().inc(amount)


class CounterSeries:
    """The series of a counter for one combination of label values."""

    def __init__(self, key: SeriesKey) -> None:
        self._key = key

    def inc(self, amount: float = 1.0) -> None:
        """Increase the series by `amount`, which must not be negative."""
        if amount < 0:
            raise ValueError("a counter cannot decrease")
        if amount:
            INCREMENTS.add((self._key, float(amount)))


class Histogram:
    """A metric that counts values by their bucket, and adds up all values.

    `buckets` are the upper bounds of the buckets. The metric has one series for each combination of
    label values. Declare histograms at import time. Label values must come from the code and never
    from clients, because each combination is kept forever.
    """

    def __init__(
        self, name: str, documentation: str, labels: Sequence[str], buckets: Sequence[float]
    ) -> None:
        self.name = name
        self.documentation = documentation
        self.label_names = tuple(labels)
        self.bounds = (*sorted(buckets), float("inf"))
        self.at_start: tuple[tuple[str, ...], ...] = ()
        _register_metric(self)

    def labels(self, *values: str) -> "HistogramSeries":
        """Return the series for these label values, which are in the order of `label_names`."""
        return HistogramSeries(self.name, _check_labels(self, values), self.bounds)


class HistogramSeries:
    """The series of a histogram for one combination of label values."""

    def __init__(self, name: str, values: tuple[str, ...], bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._sum_key: SeriesKey = (name, values, SUM)
        self._bucket_keys: list[SeriesKey] = [
            (name, values, get_bucket_name(bound)) for bound in bounds
        ]

    def observe(self, value: float) -> None:
        """Count a value in its bucket, and add it to the sum."""
        key = self._bucket_keys[bisect_left(self._bounds, value)]
        INCREMENTS.add((key, 1.0), (self._sum_key, value))


SUM = "sum"


def get_bucket_name(bound: float) -> str:
    """Return the name of the bucket whose upper bound is `bound`."""
    return repr(bound)


METRICS: dict[str, Counter | Histogram] = {}
"""All declared metrics by name."""


def _register_metric(metric: Counter | Histogram) -> None:
    if metric.name in METRICS:
        raise ValueError(f"the metric {metric.name} is already declared")
    METRICS[metric.name] = metric


def _check_labels(metric: Counter | Histogram, values: tuple[str, ...]) -> tuple[str, ...]:
    if len(values) != len(metric.label_names):
        raise ValueError(f"{metric.name} requires the labels {metric.label_names}")
    return values
