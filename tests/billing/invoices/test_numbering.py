"""Numbers of invoices: no gaps and no duplicates, also with several processes and failures."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from app.billing.invoices.service import issuing
from app.billing.periods.service import get_bounds
from app.billing.seller import configuration
from app.kit import db, tenancy
from tests.billing.conftest import Customer
from tests.factories.counts import run_sql
from tests.factories.queueing import run_concurrently

ROOT = Path(__file__).parents[3]
# One program that forks both processes: loading the application takes most of the time of a start.
_ISSUE = """
import os, sys
from uuid import UUID
from app.billing.invoices.service import issuing
from app.billing.periods.service import get_bounds
from app.factory import create_app
from app.kit import db, tenancy

app = create_app(os.environ, with_api=False)
ids = [UUID(text) for text in sys.argv[1:]]
start, go = os.pipe()
for order in (ids, ids[::-1]):
    # Nothing was connected before, so that each child has connections of its own.
    if os.fork() == 0:
        os.close(go)
        os.read(start, 1)
        for organization_id in order:
            with app.app_context(), tenancy.organization(organization_id), db.transaction():
                issuing.issue_period(organization_id, *get_bounds("2001-03"))
        print("done", flush=True)
        os._exit(0)
os.close(go)
os.wait()
os.wait()
"""


@pytest.fixture
def series(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, Path]:
    """A series of numbers of this test alone."""
    prefix = f"T{tmp_path.name[-8:]}-{id(tmp_path) % 10**6}-"
    path = tmp_path / "billing.toml"
    content = (ROOT / "examples/billing.toml").read_text()
    path.write_text(content.replace("INV-{year}-", prefix).replace("CN-{year}-", f"C{prefix}"))
    new_configuration = configuration.read_configuration(path)
    monkeypatch.setattr(issuing, "require_configuration", lambda: new_configuration)
    return prefix, path


def list_numbers(customers: list[Customer], prefix: str) -> list[int]:
    numbers = []
    for customer in customers:
        (invoice,) = customer.list_invoices()
        assert invoice["number"].startswith(prefix)
        numbers.append(int(invoice["number"].removeprefix(prefix)))
    return sorted(numbers)


def test_a_rollback_after_the_number_was_taken_leaves_no_gap(
    make_customer: Callable[[], Customer], series: tuple[str, Path]
) -> None:
    customers = [make_customer() for _ in range(3)]
    start, end = get_bounds("2001-03")
    for number, customer in enumerate(customers):
        with customer.org.app.app_context(), tenancy.organization(customer.org.id):
            (invoice,) = issuing.issue_period(customer.org.id, start, end)
            assert invoice.number == f"{series[0]}{number + 1:05}"
            db.session().rollback()
        assert customer.list_invoices() == []
        customer.issue("2001-03")
    assert list_numbers(customers, series[0]) == [1, 2, 3]


def test_threads_that_issue_the_same_invoices(
    make_customer: Callable[[], Customer], series: tuple[str, Path]
) -> None:
    customers = [make_customer() for _ in range(8)]

    def issue(order: list[Customer]) -> None:
        for customer in order:
            customer.issue("2001-03")

    orders = [customers, customers[::-1], customers[4:] + customers[:4], customers]
    run_concurrently(*(partial(issue, order) for order in orders))
    assert list_numbers(customers, series[0]) == list(range(1, 9))


def test_two_processes_that_issue_the_same_invoices(
    environ: dict[str, str], make_customer: Callable[[], Customer], series: tuple[str, Path]
) -> None:
    customers = [make_customer() for _ in range(12)]
    ids = [str(customer.org.id) for customer in customers]
    environment = {**environ, "BILLING_FILE": str(series[1]), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", _ISSUE, *ids],
        env=environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert done.stdout == "done\n" * 2
    assert list_numbers(customers, series[0]) == list(range(1, 13))


def test_a_number_cannot_be_used_twice(customer: Customer) -> None:
    invoice = customer.issue_invoice()
    with pytest.raises(Exception, match="uq_invoices_number"):
        run_sql(
            customer.org,
            """INSERT INTO invoices SELECT (jsonb_populate_record(i, jsonb_build_object(
                   'id', gen_random_uuid(), 'kind', 'credit_note'))).* FROM invoices i
               WHERE id = :id""",
            id=invoice["id"],
        )
