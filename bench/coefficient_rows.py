"""Measure the computation of agreement coefficients and their intervals for 1,200,000 labels.

100,000 documents have 4 fields (a choice, an ordinal choice, an amount, and a text that is nearly
always different), each labeled by 3 people. The rows are tuples as a database cursor yields them.
All coefficients of the API are computed with 200 resamples for each field and each pair of
labelers. The floor reads the rows and compares the values of each document, without intervals. The
measurement runs in a separate process.
"""

import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from uuid import UUID

from bench.report import Report, Row

_DOCUMENTS = 100_000
_LABELERS = 3
_FIELDS = ("choice", "rating", "amount", "text")
_RESAMPLES = 200
_MAX_SECONDS = 10.0
_MAX_MEGABYTES = 400.0
_ACCURACY = 0.85
_Row = tuple[str, UUID, UUID, Any]


def measure(report: Report, names: set[str]) -> None:
    """Report the processor time on one core, and the peak memory of the process."""
    if names and not names & {"coefficients", "agreement"}:
        return
    report.print_header()
    command = [sys.executable, "-m", "bench.coefficient_rows"]
    completed = subprocess.run(command, capture_output=True, check=True, text=True, timeout=600)
    result = json.loads(completed.stdout)
    seconds, megabytes, floor = result["seconds"], result["megabytes"], result["floor"]
    labels = f"{_DOCUMENTS * _LABELERS * len(_FIELDS):,} labels"
    report.add(
        Row(
            f"agreement and intervals of {labels}",
            f"{seconds:.1f} s",
            f"{floor:.1f} s",
            seconds / floor,
            f"< {_MAX_SECONDS:g} s",
            seconds < _MAX_SECONDS,
        )
    )
    report.add(
        Row(
            "the same, peak memory (RSS)",
            f"{megabytes:.0f} MB",
            f"{result['imported']:.0f} MB imports",
            megabytes / result["imported"],
            f"< {_MAX_MEGABYTES:g} MB",
            megabytes < _MAX_MEGABYTES,
        )
    )


def _generate_labels() -> Iterator[_Row]:
    """Yield the labels document by document. Labelers are right with a probability of 0.85."""
    generator = random.Random(13)
    labelers = [UUID(int=number) for number in range(_LABELERS)]
    for _ in range(_DOCUMENTS):
        document = UUID(int=generator.getrandbits(128))
        truths = [_generate_value(field, generator) for field in _FIELDS]
        for labeler in labelers:
            for field, truth in zip(_FIELDS, truths, strict=True):
                is_right = generator.random() < _ACCURACY
                yield (
                    field,
                    document,
                    labeler,
                    truth if is_right else _generate_value(field, generator),
                )


def _generate_value(field: str, generator: random.Random) -> Any:
    if field == "choice":
        return ("invoice", "receipt", "order", "contract", "letter")[int(5 * generator.random())]
    if field == "rating":
        return int(7 * generator.random())
    if field == "amount":
        return Decimal(int(100_000 * generator.random())) / 100
    return f"{generator.getrandbits(48):x} street"


def _main() -> None:
    """Print the measurements on one core as JSON, without the time for generating the rows."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    generation_seconds = _time(lambda: sum(1 for _ in _generate_labels()))
    floor = _time(_compare_only) - generation_seconds
    from app.engines.agreement.coefficients import measuring  # noqa: PLC0415, F401 - measured apart

    import_megabytes = _get_peak_megabytes()
    seconds = _time(_measure_all) - generation_seconds
    figures = {"seconds": seconds, "floor": floor, "imported": import_megabytes}
    print(json.dumps({**figures, "megabytes": _get_peak_megabytes()}))


def _get_peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def _time(action: Any) -> float:
    began = time.process_time()
    action()
    return time.process_time() - began


def _compare_only() -> None:
    agreed = 0
    values: dict[tuple[str, UUID], Any] = {}
    last = None
    for field, document, _, value in _generate_labels():
        if document != last:
            values.clear()
            last = document
        agreed += values.setdefault((field, document), value) == value


def _measure_all() -> None:
    from app.engines.agreement.coefficients import measuring, ratings  # noqa: PLC0415 - as above
    from app.engines.agreement.metrics import Level, Metric  # noqa: PLC0415 - as above

    levels = {"rating": Level.ORDINAL, "amount": Level.INTERVAL}
    ratings_by_field = ratings.build_ratings_by_field(_generate_labels(), levels=levels)
    metrics = [
        *(Metric.PERCENT, Metric.COHEN_KAPPA, Metric.FLEISS_KAPPA),
        *(Metric.KRIPPENDORFF_ALPHA, Metric.GWET_AC1, Metric.F1),
    ]
    for field in _FIELDS:
        field_ratings = ratings_by_field.pop(field)
        estimates = measuring.measure_all(field_ratings, metrics, resamples=_RESAMPLES, seed=1)
        assert all(estimate.ci_low is not None for estimate in estimates)
        pairs = measuring.measure_pairs(
            field_ratings, Metric.COHEN_KAPPA, resamples=_RESAMPLES, seed=1
        )
        assert len(pairs) == _LABELERS * (_LABELERS - 1) // 2


if __name__ == "__main__":
    _main()
