"""What Prometheus may ask for, counted over all processes of the service.

Every process counts in files of its own (prometheus-client's multi-process mode) under
``PROMETHEUS_MULTIPROC_DIR``, or ``DATA_DIR/metrics``; with neither variable, as in tests, counts
stay in memory. Files of processes that ended are folded into one, so that a service that forks for
its jobs does not collect them for ever and no counter goes back.
"""

import fcntl
import os
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, values
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from app.kit.logging import get_logger

log = get_logger("app.metrics")

_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_ARCHIVE = "ended"


def _prepare(environ: Mapping[str, str]) -> Path | None:
    """The folder of the files, made for the owner only; the library reads its variable again."""
    named = environ.get(_VARIABLE, "").strip()
    data_dir = environ.get("DATA_DIR", "").strip()
    if not named and not data_dir:
        return None
    folder = Path(named).absolute() if named else Path(data_dir).absolute() / "metrics"
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    os.environ[_VARIABLE] = str(folder)
    return folder


# The library leaves these without types.
_files_value: Any = values.MultiProcessValue
_merge: Any = MultiProcessCollector.merge
_File: Any = MmapedDict

_folder = _prepare(os.environ)
if _folder is not None:  # the library decides when it is first imported, which may be too early
    values.ValueClass = _files_value()

_registry = CollectorRegistry()
REQUESTS = Histogram(
    "labeling_request_duration_seconds",
    "Time from a request's arrival to its answer.",
    ["operation", "method", "status"],
    buckets=_BUCKETS,
    registry=_registry,
)
DELIVERIES = Counter(
    "labeling_deliveries", "Attempts to deliver to webhooks.", ["outcome"], registry=_registry
)
JOBS = Counter(
    "labeling_jobs", "Background jobs that ended.", ["function", "outcome"], registry=_registry
)
JOBS_GIVEN_UP = Counter(
    "labeling_jobs_given_up",
    "Jobs that failed each time they were tried: see flask jobs list.",
    ["function"],
    registry=_registry,
)
LEASE_EXPIRIES = Counter(
    "labeling_lease_expiries",
    "Work taken from a worker that did not finish it in time.",
    ["queue"],
    registry=_registry,
)
RATE_LIMIT_STORE_FAILURES = Counter(
    "labeling_rate_limit_store_failures",
    "Requests let through uncounted, as the store of the limits did not answer.",
    registry=_registry,
)
LOGINS_TURNED_AWAY = Counter(
    "labeling_logins_turned_away",
    "Requests refused as too many passwords were being hashed.",
    registry=_registry,
)
COLLECTOR_FAILURES = Counter(
    "labeling_collector_failures", "Queue readings that could not be taken.", registry=_registry
)


class QueueReading(NamedTuple):
    """A queue at this moment: due rows, and the age of the oldest in seconds (0 when empty)."""

    queue: str
    depth: int
    oldest_seconds: float


QueueCollector = Callable[[], Iterable[QueueReading]]
_collectors: list[QueueCollector] = []
_request_series: dict[tuple[str, str, int], Histogram] = {}


def register_collector(collector: QueueCollector) -> None:
    """Ask this function for readings at every `render`; one that raises is counted and left out."""
    if collector not in _collectors:
        _collectors.append(collector)


def observe_request(operation: str, method: str, status: int, seconds: float) -> None:
    """Record an answered request. Methods that HTTP does not know count as one."""
    key = (operation, method, status)
    series = _request_series.get(key)
    if series is None:
        known = method if method in _METHODS else "other"
        series = REQUESTS.labels(operation, known, str(status))
        if known == method:  # what a client makes up must not fill the memory
            _request_series[key] = series
    series.observe(seconds)


def render() -> tuple[bytes, str]:
    """All metrics in Prometheus' text format, and its content type."""
    readings = CollectorRegistry()
    readings.register(_Readings())
    gauges = generate_latest(readings)
    if _folder is None:
        return generate_latest(_registry) + gauges, CONTENT_TYPE_LATEST
    fold_ended(_folder)
    counted = CollectorRegistry()
    counted.register(_Counted(_folder))
    return generate_latest(counted) + gauges, CONTENT_TYPE_LATEST


class _Readings(Collector):
    """The gauges of the queues, from every collector that answers."""

    def collect(self) -> Iterable[Metric]:
        depth = GaugeMetricFamily("labeling_queue_depth", "Due rows.", labels=["queue"])
        oldest = GaugeMetricFamily(
            "labeling_queue_oldest_due_seconds", "Age of the oldest due row.", labels=["queue"]
        )
        for reading in chain.from_iterable(map(_readings_of, _collectors)):
            depth.add_metric([reading.queue], reading.depth)
            oldest.add_metric([reading.queue], reading.oldest_seconds)
        return [depth, oldest]


def _readings_of(collector: QueueCollector) -> list[QueueReading]:
    try:
        return list(collector())
    except Exception:  # metrics matter most while something is down
        COLLECTOR_FAILURES.inc()
        log.warning("metrics.collector_failed", exc_info=True)
        return []


class _Counted(Collector):
    """The sums over the files of all processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> Iterable[Metric]:
        with _locked(self._folder, fcntl.LOCK_SH):
            # A file without bytes belongs to a process that is about to write its first.
            files = [str(path) for path in self._folder.glob("*.db") if path.stat().st_size]
            return list(_merge(files))


def fold_ended(folder: Path) -> int:
    """Add the counts of ended processes to one file and delete theirs; answers how many files.

    `render` does it, so it needs calling only where nobody asks for metrics.
    """
    if not any(_ended(path) for path in folder.glob("*.db")):
        return 0
    with _locked(folder, fcntl.LOCK_EX):
        ended = [path for path in folder.glob("*.db") if _ended(path)]
        for path in ended:
            kind = path.stem.partition("_")[0]
            archive = _File(str(folder / f"{kind}_{_ARCHIVE}.db"))
            for key, value in _values(path):
                archive.write_value(key, archive.read_value(key)[0] + value, 0.0)
            archive.close()
            path.unlink()
    return len(ended)


def _values(path: Path) -> list[tuple[str, float]]:
    try:
        found = _File.read_all_values_from_file(str(path))
        return [(key, value) for key, value, _, _ in found]
    except (struct.error, RuntimeError, ValueError):  # it was killed in the middle of a write
        log.warning("metrics.file_damaged", file=path.name)
        return []


def _ended(path: Path) -> bool:
    pid = path.stem.rpartition("_")[2]
    if not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


@contextmanager
def _locked(folder: Path, how: int) -> Iterator[None]:
    descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, how)
        yield
    finally:
        os.close(descriptor)
