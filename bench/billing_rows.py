"""Measure closing a billing month: issuing many invoices, and rendering their files.

The floor of issuing is one statement that copies the finished invoices. Rendering has no floor.
"""

import time
from decimal import Decimal
from typing import Any

import orjson

from app.billing.periods import service as periods
from app.billing.plans import catalog
from app.billing.plans.catalog import Charge
from app.engines.invoices.charges import Tier
from app.kit import db
from app.kit.plan_limits import Meter
from bench.filling import analyze, open_cursor
from bench.report import Report, Row
from bench.service import Service

_PERIOD, _LINE_COUNT = "1999-05", 20
_MIN_INVOICES_PER_SECOND, _MIN_FILES_PER_SECOND = 200.0, 20.0
_MAX_RENDERING_SECONDS = 15.0
"""The maximum time in seconds during which rendered files are counted."""
_POLL_SECONDS = 0.1
_PLAN = """
INSERT INTO plan_versions (name, version, definition, created_at)
VALUES ('business', 99, %s, '1990-01-01')
"""
_ORGANIZATIONS = """
INSERT INTO organizations (id, slug, name, settings, status, plan, plan_limits, created_at,
    updated_at, revision)
SELECT md5('billed' || i)::uuid, 'billed-' || i, 'Billed', '{{}}', 'active', 'business', '{{}}',
    '1999-01-01', now(), 1
FROM generate_series(1, {count}) AS i;
INSERT INTO billing_profiles (organization_id, id, name, address_lines, postal_code, city, country,
    tax_number, email, currency, time_zone, language, created_at, updated_at, revision)
SELECT md5('billed' || i)::uuid, gen_random_uuid(), 'Billed', '["1 High Street"]', 'D02 XY45',
    'Dublin', 'IE', 'IE6433435OA', 'pay@billed.example', 'EUR', 'UTC', 'en', now(), now(), 1
FROM generate_series(1, {count}) AS i;
INSERT INTO usage_days (organization_id, meter, day, added, removed, level)
SELECT md5('billed' || i)::uuid, 'documents_per_month', day, 100, 0, 100
FROM generate_series(1, {count}) AS i,
    generate_series(date '1999-05-01', '1999-05-31', interval '1 day') AS day;
"""
_PROGRESS = """
SELECT count(*), min(issued_at), max(issued_at), count(pdf) FROM invoices
WHERE period_from = '1999-05-01' AND status = 'issued'
"""
_COPY = "CREATE TEMPORARY TABLE copied ON COMMIT DROP AS SELECT * FROM invoices"


def measure(report: Report, service: Service, count: int) -> None:
    """Measure closing a month for `count` organizations, and rendering their invoices."""
    with open_cursor(service) as cursor:
        cursor.execute(_PLAN, (_build_plan(),))
        cursor.execute(_ORGANIZATIONS.format(count=count))
    analyze(service)
    with open_cursor(service) as cursor:
        rate = _close_month(service, cursor, count)
        began = time.perf_counter()
        cursor.execute(_COPY)
        floor = count / (time.perf_counter() - began)
        report.add(
            Row(
                f"closing a month of {count:,}, {_LINE_COUNT} lines each",
                f"{rate:,.0f} invoices/s",
                f"{floor:,.0f}/s copied",
                floor / rate,
                f"> {_MIN_INVOICES_PER_SECOND:g}/s",
                rate > _MIN_INVOICES_PER_SECOND,
            )
        )
        file_rate = _measure_file_rate(cursor, count)
        bound = f"> {_MIN_FILES_PER_SECOND:g}/s"
        met = file_rate > _MIN_FILES_PER_SECOND
        report.add_without_floor("their files", f"{file_rate:.0f}/s", bound, met)


def _build_plan() -> str:
    """Return the JSON of a plan whose charge has an invoice line for each of its tiers."""
    tiers = [Tier(Decimal(100 * n), Decimal("0.05")) for n in range(1, _LINE_COUNT - 1)]
    charge = Charge(Meter.DOCUMENTS, 0, (*tiers, Tier(None, Decimal("0.01"))), 1)
    plan = catalog.get_plan("business")
    values = {**vars(plan), "version": 99, "charges": (charge,)}
    return orjson.dumps(catalog.format_plan(type(plan)(**values))).decode()


def _close_month(service: Service, cursor: Any, count: int) -> float:
    """Close the month, wait for the invoices, and return the issued invoices per second."""
    began = time.perf_counter()
    with service.app.app_context(), db.transaction():
        periods.close(period=_PERIOD)
    while _count_invoices_and_files(cursor)[0] < count:
        time.sleep(_POLL_SECONDS)
    return count / (time.perf_counter() - began)


def _measure_file_rate(cursor: Any, count: int) -> float:
    """Return the rendered files per second, until all files exist or the time limit is reached."""
    began, before = time.perf_counter(), _count_invoices_and_files(cursor)[1]
    while (seconds := time.perf_counter() - began) < _MAX_RENDERING_SECONDS:
        rendered = _count_invoices_and_files(cursor)[1]
        if rendered == count:
            break
        time.sleep(_POLL_SECONDS)
    return (_count_invoices_and_files(cursor)[1] - before) / seconds


def _count_invoices_and_files(cursor: Any) -> tuple[int, int]:
    cursor.execute(_PROGRESS)
    issued, *_, files = cursor.fetchone()
    return issued, files
