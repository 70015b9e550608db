"""Counters and histograms of this process, as increments that were not sent to the store yet."""

import os
from bisect import bisect_left
from collections.abc import Callable, Sequence
from threading import RLock

Key = tuple[str, tuple[str, ...], str]
"""A metric's name, the values of its labels, and which number of it: the empty string for a
counter; `sum`, or the upper bound of a bucket, for a histogram."""


class Increments:
    """What was counted in this process since the last `take`.

    They are sums, so they take no more memory the longer nobody takes them. A forked child starts
    with none, as they are its parent's. The lock is reentrant because signal handlers count, too.
    """

    def __init__(self) -> None:
        self.on_add: Callable[[], None] = lambda: None
        self._start_empty()
        os.register_at_fork(after_in_child=self._start_empty)

    def _start_empty(self) -> None:
        self._lock = RLock()
        self._values: dict[Key, float] = {}

    def add(self, *increments: tuple[Key, float]) -> None:
        """Add to several numbers at once."""
        with self._lock:
            for key, amount in increments:
                self._values[key] = self._values.get(key, 0.0) + amount
        self.on_add()

    def take(self) -> dict[Key, float]:
        """Return all increments and forget them."""
        with self._lock:
            values, self._values = self._values, {}
        return values

    def copy(self) -> dict[Key, float]:
        """Return all increments."""
        with self._lock:
            return dict(self._values)


INCREMENTS = Increments()


class Counter:
    """A number that only grows, for each combination of label values.

    Declare one at import, with labels whose values come from the code and never from clients: each
    combination is kept for good. The series of `at_start` are shown before anything was counted
    in them: only so does Prometheus see their first increase. One without labels always is.
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
        _declare(self)

    def labels(self, *values: str) -> "CounterSeries":
        """Return the series of these label values, in the order of their names."""
        return CounterSeries((self.name, _checked(self, values), ""))

    def inc(self, amount: float = 1.0) -> None:
        """Count, where there are no labels."""
        self.labels().inc(amount)


class CounterSeries:
    """One series of a counter."""

    def __init__(self, key: Key) -> None:
        self._key = key

    def inc(self, amount: float = 1.0) -> None:
        """Add `amount`, which must not be negative."""
        if amount < 0:
            raise ValueError("a counter never goes back")
        if amount:
            INCREMENTS.add((self._key, float(amount)))


class Histogram:
    """How often values fell below each of `buckets`, and their sum, by label values.

    The rules for labels are those of `Counter`.
    """

    def __init__(
        self, name: str, documentation: str, labels: Sequence[str], buckets: Sequence[float]
    ) -> None:
        self.name = name
        self.documentation = documentation
        self.label_names = tuple(labels)
        self.bounds = (*sorted(buckets), float("inf"))
        self.at_start: tuple[tuple[str, ...], ...] = ()
        _declare(self)

    def labels(self, *values: str) -> "HistogramSeries":
        """Return the series of these label values, in the order of their names."""
        return HistogramSeries(self.name, _checked(self, values), self.bounds)


class HistogramSeries:
    """One series of a histogram."""

    def __init__(self, name: str, values: tuple[str, ...], bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._sum: Key = (name, values, SUM)
        self._buckets: list[Key] = [(name, values, bucket(bound)) for bound in bounds]

    def observe(self, value: float) -> None:
        """Record a value."""
        key = self._buckets[bisect_left(self._bounds, value)]
        INCREMENTS.add((key, 1.0), (self._sum, value))


SUM = "sum"


def bucket(bound: float) -> str:
    """Return the name of the bucket that ends at `bound`."""
    return repr(bound)


METRICS: dict[str, Counter | Histogram] = {}
"""Every declared metric by its name."""


def _declare(metric: Counter | Histogram) -> None:
    if metric.name in METRICS:
        raise ValueError(f"there is a metric {metric.name} already")
    METRICS[metric.name] = metric


def _checked(metric: Counter | Histogram, values: tuple[str, ...]) -> tuple[str, ...]:
    if len(values) != len(metric.label_names):
        raise ValueError(f"{metric.name} has the labels {metric.label_names}")
    return values
