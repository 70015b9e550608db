"""Run all benchmarks and their floors, or only the benchmarks named after `--only`.

make bench BENCH_ARGS="--rows 100000 --only list save"

The benchmark `growth` creates a million documents, and `notifications` creates a million
notifications. Each takes several minutes.
"""

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial

from bench import coefficient_rows, drift_rows, extraction_rows, parse_rows
from bench.report import Report, print_speed
from bench.service import ROOT, Service, run_service

IDENTITY = ("token", "key", "hash", "members", "teams", "audit")
REVIEW = ("queue", "reviews", "own", "accepts")
LABELS = ("large", "revisions", "agreement")
DOCUMENTS = ("search", "stats", "archive")
WORK = ("next", "assign")
LEAN = ("list", "tag_set", "tag_sets", "text")
NAMES = (
    *("live", "one", "login", "save", "create", *IDENTITY, *REVIEW, *LABELS, *DOCUMENTS, *LEAN),
    *(
        *WORK,
        "export",
        "import",
        "crawl",
        "deliver",
        "hanging",
        "memory",
        "metering",
        "routing",
        "backlog",
        "stalled",
        "parse",
        "coefficients",
        "drift",
        "quality",
        "quality_run",
        "extraction",
        "growth",
        "notifications",
        "feedback",
        "billing",
        "browser",
    ),
)


def parse_arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000, help="documents in the list")
    parser.add_argument("--exports", type=int, default=50_000, help="tag sets to export")
    parser.add_argument("--imports", type=int, default=50_000, help="texts to import")
    parser.add_argument("--crawled", type=int, default=100_000, help="objects to crawl")
    parser.add_argument("--routed", type=int, default=50_000, help="documents to route")
    parser.add_argument("--deliveries", type=int, default=5_000, help="events to deliver")
    parser.add_argument("--billed", type=int, default=5_000, help="organizations to bill")
    parser.add_argument("--seconds", type=float, default=3.0, help="seconds per round")
    parser.add_argument("--only", nargs="*", choices=NAMES, default=[], help="benchmarks to run")
    return parser.parse_args()


def main() -> int:
    """Run the benchmarks; return 0, or 1 if a result missed its bound."""
    options = parse_arguments()
    names = set(options.only)
    report = Report()
    print_speed()
    parse_rows.measure(report, names)  # before anything else is running
    coefficient_rows.measure(report, names)
    if not names or "drift" in names:
        drift_rows.measure(report)
    extraction_rows.measure(report, names)
    if not names or names - {"parse", "coefficients", "drift", "extraction"}:
        _measure_service(report, options, names)
    for name, seconds in report.seconds.items():
        print(f"{seconds:6.0f} s for {name}")
    for name in report.list_missed():
        print(f"missed: {name}")
    return 1 if report.list_missed() else 0


def _measure_service(report: Report, options: argparse.Namespace, names: set[str]) -> None:
    print("starting the service ...", flush=True)
    settings = {"BILLING_FILE": str(ROOT / "examples/billing.toml"), "REGISTRATION": "open"}
    with run_service(**settings) as service:
        from bench import (  # noqa: PLC0415 - they need the environment
            browser_rows,
            filling,
            identity_rows,
            label_rows,
            lean_rows,
            memory_rows,
            next_rows,
            review_rows,
            search_rows,
            stalled_rows,
        )
        from bench.requests_rows import SingleRequestMeasurements  # noqa: PLC0415
        from tests.factories import make_org  # noqa: PLC0415
        from tests.factories.labels import make_labeled  # noqa: PLC0415

        if not names or "memory" in names:
            report.print_header()
            memory_rows.measure(report, service)
        if not names or "browser" in names:
            browser_rows.measure(report, service)
        if names == {"browser"}:
            return
        began = time.perf_counter()
        org = make_org(service.app)
        with filling.disable_triggers(service):
            labeled = make_labeled(org, options.rows)
        filling.analyze(service)
        print(f"{options.rows:,} documents in {time.perf_counter() - began:.1f} s", flush=True)
        report.print_header()
        requests = SingleRequestMeasurements(service, org, labeled, options.seconds)
        report.attempt("single requests", lambda: requests.measure(report, names))
        seconds, rows = options.seconds, options.rows
        groups: dict[tuple[str, ...], Callable[[], None]] = {
            LEAN: lambda: lean_rows.measure(report, service, names, org, labeled, seconds),
            ("stalled",): lambda: stalled_rows.measure(report, service, org, seconds),
            IDENTITY: lambda: identity_rows.measure(report, service, names, rows, seconds),
            REVIEW: lambda: review_rows.measure(
                report, service, make_org(service.app), names, rows, seconds
            ),
            LABELS: lambda: label_rows.measure(report, service, make_org(service.app), names),
            DOCUMENTS: lambda: search_rows.measure(report, service, names, rows, seconds),
        }
        for group, measure in groups.items():
            if not names or names & set(group):
                report.attempt(" ".join(group), measure)
        report.attempt("next", lambda: next_rows.measure(report, service, names, rows, seconds))
        _measure_workers(report, service, names, options)


def _measure_workers(
    report: Report, service: Service, names: set[str], options: argparse.Namespace
) -> None:
    """Measure the work of background workers."""
    from bench import (  # noqa: PLC0415 - as above
        backlog_rows,
        billing_rows,
        crawl_rows,
        hanging_rows,
        import_rows,
        jobs_rows,
        metering_rows,
        quality_run_rows,
        routing_rows,
    )
    from tests.factories import make_org  # noqa: PLC0415 - as above

    new_org = partial(make_org, service.app)
    imports = options.imports
    groups: dict[str, Callable[[], None]] = {
        "export": lambda: jobs_rows.measure_export(report, service, new_org(), options.exports),
        "quality_run": lambda: quality_run_rows.measure(report, service, names, options.rows),
        "import": lambda: import_rows.measure(report, service, new_org(), imports),
        "import tags": lambda: import_rows.measure_labeled(report, service, new_org(), imports),
        "crawl": lambda: crawl_rows.measure(report, service, new_org(), options.crawled),
        "metering": lambda: metering_rows.measure(report, service, new_org()),
        "deliver": lambda: jobs_rows.measure_delivery(report, new_org(), options.deliveries),
        "hanging": lambda: hanging_rows.measure(report, new_org(), new_org(), options.deliveries),
        "backlog": lambda: backlog_rows.measure(report, service, new_org(), new_org()),
        "billing": lambda: billing_rows.measure(report, service, options.billed),
        "routing": lambda: routing_rows.measure(report, service, options.routed),
    }
    for name, measure in groups.items():
        if not names or name.split()[0] in names:
            report.attempt(name, measure)
    _measure_growth(report, service, names)


def _measure_growth(report: Report, service: Service, names: set[str]) -> None:
    """Measure requests whose time must not grow with the number of rows in the database."""
    from bench import feedback_rows, growth_rows, quality_rows  # noqa: PLC0415 - as above

    groups: dict[str, Callable[[], None]] = {
        "notifications": lambda: growth_rows.measure_notifications(report, service),
        "feedback": lambda: feedback_rows.measure(report, service),
        "quality": lambda: quality_rows.measure(report, service),
        "growth": lambda: growth_rows.measure(report, service),
    }
    for name, measure in groups.items():
        if not names or name in names:
            report.attempt(name, measure)


if __name__ == "__main__":
    sys.exit(main())
