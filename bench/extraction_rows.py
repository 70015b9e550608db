"""Measure the training, the predictions and the accuracy of learned extraction.

Receipts and invoices are generated: 36 layouts to learn from, and 12 layouts of unseen vendors. The
measurement runs in a process with one thread. Memory is the peak memory of that process.
"""

import json
import os
import resource
import subprocess
import sys
import time

from bench.report import Report

_SEEN_LAYOUTS, _UNSEEN_LAYOUTS = range(36), range(36, 48)
_TEST_COUNT = 120
_MIN_F1 = {0: (0.60, 0.60), 5: (0.75, 0.75), 20: (0.85, 0.85), 100: (0.93, 0.92), 500: (0.95, 0.93)}
"""The minimum F1 scores for seen and unseen vendors, by number of tag sets."""
_MAX_CPU_SECONDS, _MAX_MEMORY_MB, _MAX_PREDICT_MS, _MAX_CALIBRATION_ERROR = 60.0, 1024, 40.0, 0.06
_MIN_CALIBRATED_COUNT = 100


def measure(report: Report, names: set[str]) -> None:
    """Measure extraction that has learned from 0, 5, 20, 100 and 500 tag sets of four fields."""
    if names and "extraction" not in names:
        return
    report.print_header()
    for count, (seen, unseen) in _MIN_F1.items():
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "bench.extraction_rows", str(count)]
        completed = subprocess.run(
            command, capture_output=True, check=True, text=True, timeout=900, env=environment
        )
        result = json.loads(completed.stdout)
        name = f"extraction, {count} tag sets:"
        _add(report, f"{name} F1, vendors seen", result["seen"], ">=", seen)
        _add(report, f"{name} F1, unseen vendors", result["unseen"], ">=", unseen)
        _add(report, f"{name} prediction", result["predict"], "<=", _MAX_PREDICT_MS, " CPU ms")
        if count >= _MIN_CALIBRATED_COUNT:
            _add(report, f"{name} calibration error", result["error"], "<=", _MAX_CALIBRATION_ERROR)
    name = "extraction, 500 tag sets:"
    _add(report, f"{name} training", result["train"], "<=", _MAX_CPU_SECONDS, " CPU s")
    _add(report, f"{name} memory", result["memory"], "<=", _MAX_MEMORY_MB, " MB")


def _add(report: Report, name: str, value: float, sign: str, bound: float, unit: str = "") -> None:
    met = value >= bound if sign == ">=" else value <= bound
    report.add_without_floor(name, f"{value:.3g}{unit}", f"{sign} {bound:g}{unit}", met)


def _main(count: int) -> None:
    from app.engines.extraction.evaluation import compare_tags  # noqa: PLC0415
    from app.engines.extraction.rule_based import propose_by_rules  # noqa: PLC0415
    from app.engines.extraction.training import train_model  # noqa: PLC0415
    from tests.factories.receipts import build_examples, build_fields  # noqa: PLC0415

    fields = build_fields()
    examples = build_examples(count, layouts=_SEEN_LAYOUTS, seed=1)
    test_examples = [
        build_examples(_TEST_COUNT, layouts=_SEEN_LAYOUTS, seed=2),
        build_examples(_TEST_COUNT, layouts=_UNSEEN_LAYOUTS, seed=3),
    ]
    started = time.process_time()
    model = train_model(examples, fields, "bench") if count else None
    trained = time.process_time()
    reports = []
    for documents in test_examples:
        tags = [
            model.predict(example.document) if model else propose_by_rules(example.document, fields)
            for example in documents
        ]
        reports.append(compare_tags(documents, tags, fields))
    predicted = time.process_time()
    figures = {
        "train": trained - started,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "predict": (predicted - trained) * 1000 / (2 * _TEST_COUNT),
        "seen": reports[0].overall.f1,
        "unseen": reports[1].overall.f1,
        "error": max(report.expected_calibration_error for report in reports),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    _main(int(sys.argv[1]))
