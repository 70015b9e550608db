"""Check that kills of the process that closes a month lose no invoice and repeat none."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import text

from app.kit import db, tenancy
from tests.billing.conftest import Customer, set_up_customer
from tests.factories import make_org
from tests.factories.processes import run_script

pytestmark = pytest.mark.xdist_group("faults")

ROOT = Path(__file__).parents[2]
ORGANIZATIONS, KILLS, STATEMENTS = 8, 6, 40
_CLOSE = """
import gc, os, signal, sys
from uuid import UUID
from sqlalchemy import event, text
from app.billing.periods import service
from app.factory import create_app
from app.billing.invoices.service import issuing
from app.kit import db, tenancy
from app.kit.jobs import claims, runs

period, points = sys.argv[1], sys.argv[2].split(",")
LAST = UUID(int=2**128 - 2)
issuing.BATCH_SIZE = 1
app = create_app(os.environ, with_api=False)
gc.freeze()  # for the children

def die_at(point):
    count = 0

    def step(*_):
        nonlocal count
        count += 1
        if count == point:
            os.kill(os.getpid(), signal.SIGKILL)

    # Every second process is killed after a statement, which the server may then have executed.
    name = "before_cursor_execute" if point % 2 else "after_cursor_execute"
    event.listen(db.engine(), name, step)

def close(point):
    with app.app_context():
        if point:
            die_at(point)
        with db.transaction():
            service.close(period=period)
        with tenancy.across_organizations(reason="the leases of the killed process end"):
            db.session().execute(text("UPDATE jobs SET leased_until = now()"
                " WHERE function LIKE 'invoices.issue%' AND leased_until > now()"))
            db.session().commit()
        while jobs := claim():
            runs.run(app, "invoices", jobs)

def claim():
    everything = tenancy.across_organizations(reason="as a worker does")
    with everything, db.transaction():
        return claims.claim("invoices", last_served_key=LAST, quota=100, batch_functions=[])

for point in [*map(int, points), 0]:
    # The parent has no connections, so each child opens its own connections.
    child = os.fork()
    if child == 0:
        close(point)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print("killed" if os.WIFSIGNALED(status) else f"ended {status}", flush=True)
"""


@pytest.fixture
def customers(app: Flask) -> Iterator[list[Customer]]:
    customers = [set_up_customer(make_org(app)) for _ in range(ORGANIZATIONS)]
    for customer in customers:
        customer.set_created_at("1998-01-01T00:00:00Z")
    yield customers
    for customer in customers:
        customer.set_created_at("2026-11-01T00:00:00Z")


def list_numbers(customers: list[Customer]) -> list[str]:
    ids = [customer.org.id for customer in customers]
    statement = text("SELECT number FROM invoices WHERE organization_id = ANY(:ids)")
    everything = tenancy.across_organizations(reason="a test counts the invoices of all")
    with customers[0].org.app.app_context(), everything:
        return list(db.session().scalars(statement, {"ids": ids}))


def test_each_organization_has_one_invoice_and_numbers_have_no_gap(
    environ: dict[str, str], customers: list[Customer], tmp_path: Path
) -> None:
    series = f"K{customers[0].org.id.hex[-12:]}-"
    path = tmp_path / "billing.toml"
    content = (ROOT / "examples/billing.toml").read_text()
    path.write_text(content.replace("INV-{year}-", series))
    points = [random.Random(number).randint(1, STATEMENTS) for number in range(KILLS)]
    own = {**environ, "BILLING_FILE": str(path), "PYTHONPATH": str(ROOT)}
    output = run_script(_CLOSE, "1998-05", ",".join(map(str, points)), env=own)
    assert output.split("\n")[:-1] == ["killed"] * KILLS + ["ended 0"]
    for customer in customers:
        (invoice,) = customer.list_invoices()
        assert (invoice["status"], invoice["subtotal"]) == ("issued", "49.00")
    numbers = sorted(list_numbers(customers))
    assert numbers == [f"{series}{number:05}" for number in range(1, ORGANIZATIONS + 1)]
