"""Owners and admins are warned at 80 % and 100 % of a limit, once per meter and month."""

from typing import Any

import pytest
from flask import Flask

from app.billing.usage.service.warnings import find_reached_percent
from app.delivery.notifications.service.results import format_size
from app.kit import db, events, tenancy
from app.kit.plan_limits import Meter
from tests.factories import Org, run_jobs_of
from tests.factories.counts import insert_artifacts, run_sql
from tests.factories.emails import list_emails_to
from tests.factories.orgs import get_data
from tests.factories.usage import fold_usage, set_plan


def work(org: Org) -> None:
    """Fold the meters, check the limits and send the notifications, as the workers do."""
    fold_usage(org.app)
    run_jobs_of(org, "default", "notifications", "default", "notifications", "bulk_mail")


def list_notes(org: Org, role: str) -> list[dict[str, Any]]:
    return list(get_data(org.api(role).get("/notifications?kind=plan_limit&sort=created_at")))


def test_each_level_once(org: Org) -> None:
    set_plan(org, "unlimited", {"documents_per_month": 10})
    work(org)
    insert_artifacts(org, 7)
    work(org)
    assert list_notes(org, "owner") == []
    insert_artifacts(org, 1)
    for _ in range(2):
        work(org)
        for role in ("owner", "admin"):
            [note] = list_notes(org, role)
            assert note["title"] == "80% of the monthly document limit is used"
            assert note["body"] == "Your plan allows 10, and 8 are in use."
            assert note["link"] == "/api/v1/billing/usage"
    insert_artifacts(org, 1)
    work(org)
    assert len(list_notes(org, "owner")) == 1
    insert_artifacts(org, 2)
    work(org)
    # Documents that were deleted and created again do not warn again.
    run_sql(org, "DELETE FROM artifacts WHERE organization_id = :org")
    insert_artifacts(org, 5)
    work(org)
    _, note = list_notes(org, "admin")
    assert note["title"] == "The monthly document limit has been reached"
    assert note["body"].startswith("Your plan allows 10, and 11 are in use.\n\nNo more documents")
    assert list_notes(org, "reviewer") == []
    subjects = [email.subject for email in list_emails_to(org.email("owner"))]
    assert subjects == [
        "[Test] 80% of the monthly document limit is used",
        "[Test] The monthly document limit has been reached",
    ]


def test_both_levels_at_once_are_one_notification(org: Org) -> None:
    set_plan(org, "unlimited", {"stored_bytes": 5})
    work(org)
    insert_artifacts(org, 5)
    work(org)
    [note] = list_notes(org, "owner")
    assert note["title"] == "The storage limit has been reached"
    assert note["body"].startswith("Your plan allows 5 bytes, and 5 bytes is in use.")


def test_a_smaller_plan_warns_at_once(org: Org) -> None:
    fold_usage(org.app)
    set_plan(org, "unlimited", {"members": len(org.users)})
    run_jobs_of(org, "default", "notifications")
    [note] = list_notes(org, "owner")
    assert note["title"] == "The member limit has been reached"
    # The next month warns again, as soon as something changes.
    run_sql(org, "UPDATE usage_warnings SET month = month - 31 WHERE organization_id = :org")
    run_sql(org, "UPDATE notifications SET unique_key = unique_key || '-past'")
    org.add_user("another", "labeler")
    work(org)
    assert len(list_notes(org, "owner")) == 2


@pytest.mark.parametrize("locale", ["de", "en"])
@pytest.mark.parametrize("meter", list(Meter))
def test_every_meter_has_its_words(org: Org, meter: Meter, locale: str) -> None:
    run_sql(org, "UPDATE users SET locale = :locale WHERE id = :id", locale=locale,
            id=org.users["owner"])  # fmt: skip
    for percent in (80, 100):
        payload = {"meter": meter, "percent": percent, "used": percent, "limit": 100}
        _emit(org, {**payload, "plan": "free", "month": "2026-01-01"})
    run_jobs_of(org, "notifications")
    near, reached = list_notes(org, "owner")
    assert near["title"].startswith("80 % " if locale == "de" else "80% ")
    assert ("Limit" in reached["title"] or "limit" in reached["title"]) == (locale == "en")
    assert "100" in reached["body"]


def _emit(org: Org, payload: dict[str, object]) -> None:
    with org.app.app_context(), tenancy.organization(org.id), db.transaction():
        events.emit("usage.threshold_reached", payload)


def test_organizations_without_limits_are_not_checked(app: Flask, org: Org) -> None:
    insert_artifacts(org, 3)
    fold_usage(app)
    rows = run_sql(org, "SELECT id FROM jobs WHERE function = 'usage.warn'")
    assert rows == []


@pytest.mark.parametrize(
    ("used", "limit", "percent"),
    [
        (0, None, None),
        (79, 100, None),
        (80, 100, 80),
        (99, 100, 80),
        (100, 100, 100),
        (101, 100, 100),
        (0, 0, 100),
        (3, 4, None),
        (4, 5, 80),
        (2**53 - 1, 2**53, 80),
    ],
)
def test_levels_are_exact(used: int, limit: int | None, percent: int | None) -> None:
    assert find_reached_percent(used, limit) == percent


@pytest.mark.parametrize(
    ("size", "largest", "text"),
    [
        (0, 0, "0 bytes"),
        (5, 9, "5 bytes"),
        (1024, 10_239, "1024 bytes"),
        (1024, 10_240, "1 KiB"),
        (858_993_459, 2**30, "819 MiB"),
        (2**44, 2**50, "16 TiB"),
        (2**60, 2**60, "1024 PiB"),
    ],
)
def test_sizes_are_readable(size: int, largest: int, text: str) -> None:
    assert format_size(size, largest) == text
