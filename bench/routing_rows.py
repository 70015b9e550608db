"""Measure routing many documents with many rules. The floor only writes the assignments."""

import random
import resource
import time
from typing import Any

from sqlalchemy import text

from app.kit import db, tenancy
from app.workflow.assignment.queries.assignees import ArtifactAssignment
from app.workflow.assignment.service import assigning
from app.workflow.routing_rules.service import routing
from bench import filling
from bench.report import Report
from bench.service import Service
from tests.factories import Org, make_org
from tests.factories.routing import Router, where
from tests.factories.workspace import Workspace

RULES = 50
_MIN_RATIO, _MIN_DOCUMENTS_PER_SECOND = 0.5, 5_000
_MEMBERS = 20
_VENDORS = 60
_TYPES = ("invoice", "receipt", "lease", "letter")
_BATCH = 1_000

# Documents with the attributes on which the rules depend.
_DOCUMENTS = text(
    """
    INSERT INTO artifacts (organization_id, id, name, metadata, priority, gold, archived,
        media_type, size_bytes, sha256, page_count, language, text_length, status, assignees,
        label_counts, created_at, updated_at, revision)
    SELECT :org, gen_random_uuid(), (CAST(:types AS text[]))[1 + i % 4] || '-' || i || '.pdf',
        jsonb_build_object('vendor', 'Vendor ' || i % :vendors, 'amount', i % 5000),
        50, false, false, CASE WHEN i % 5 = 0 THEN 'image/png' ELSE 'application/pdf' END,
        1000 + i, encode(sha256(convert_to(:salt || i, 'UTF8')), 'hex'), 1 + i % 30,
        (ARRAY['en', 'de', 'fr'])[1 + i % 3], 100, 'ready', '[]',
        '{"draft": 0, "submitted": 0, "accepted": 0, "rejected": 0}',
        now() - (:rows - i) * interval '1 millisecond', now(), 1
    FROM generate_series(1, :rows) AS i
    """
)
_TEXTS = text(
    """
    INSERT INTO artifact_texts (organization_id, artifact_id, text)
    SELECT organization_id, id, repeat('Words of a page of the document ' || name || '. ', 50)
    FROM artifacts WHERE organization_id = :org
    """
)


def measure(report: Report, service: Service, rows: int) -> None:
    """Measure routing with rules on attributes only, and with a rule that reads the text."""
    for reads_text in (False, True):
        org = make_org(service.app)
        with filling.disable_triggers(service):
            _fill(org, rows)
        filling.analyze(service)
        _create_rules(org, reads_text=reads_text)
        floor = _measure_floor(service, rows)
        began, before = time.perf_counter(), _get_peak_megabytes()
        matched_count = _route(org)
        seconds = time.perf_counter() - began
        ours = rows / seconds
        met = ours / floor >= _MIN_RATIO and ours >= _MIN_DOCUMENTS_PER_SECOND
        suffix = " (one reads texts)" if reads_text else ""
        name = f"route {rows:,} documents, {RULES} rules{suffix}"
        bound = f">= {_MIN_RATIO}, >= {_MIN_DOCUMENTS_PER_SECOND:,}/s"
        report.add_rates(name, ours, floor, "written", bound, None if reads_text else met)
        added = _get_peak_megabytes() - before
        print(f"  {matched_count:,} of {rows:,} matched; {added:.0f} MB more at the peak")


def _fill(org: Org, rows: int) -> None:
    values = {"org": org.id, "rows": rows, "salt": org.slug}
    with org.app.app_context(), tenancy.organization(org.id), db.transaction() as session:
        session.execute(text("SET LOCAL statement_timeout = 0"))
        session.execute(_DOCUMENTS, {**values, "vendors": _VENDORS, "types": list(_TYPES)})
        session.execute(_TEXTS, values)


def _create_rules(org: Org, *, reads_text: bool) -> None:
    """Create typical rules: by vendor, amount, name and language, with groups and patterns.

    The rules use every assignment strategy. Four of five documents match a rule. For most of them,
    many rules that do not match are evaluated first.
    """
    router, generator = Router(Workspace(org)), random.Random(7)
    team = router.team(*(f"member{number}" for number in range(_MEMBERS)))
    strategies = ("round_robin", "least_loaded", "skills", "everyone")
    for number in range(RULES - 2):
        conditions: list[dict[str, Any]] = [
            where("metadata.vendor", "equals", f"vendor {number}"),
            generator.choice(
                [
                    where("metadata.amount", "at_least", 1),
                    where("page_count", "at_most", 30),
                    {"any": [where("language", "in", ["de", "en", "fr"]), where("text", "exists")]}
                    if reads_text
                    else where("language", "in", ["de", "en", "fr"]),
                    where("name", "matches", r"^(invoice|receipt|lease|letter)-\d+\.pdf$"),
                ]
            ),
        ]
        action = {"team_id": team, "strategy": strategies[number % 4], "priority": number}
        router.rule(*conditions, **action)
    words = where("text", "contains", "words of no document")
    router.rule(words if reads_text else where("name", "contains", "nobody"), priority=1)
    router.rule(where("size_bytes", "greater_than", 10**9), priority=2)


def _route(org: Org) -> int:
    with org.app.app_context(), tenancy.organization(org.id), db.transaction():
        return routing.route_unassigned(db.checkpoint)


def _measure_floor(service: Service, rows: int) -> float:
    """Return the documents per second if the same assignees are written without any rules."""
    org = make_org(service.app)
    with filling.disable_triggers(service):
        _fill(org, rows)
    filling.analyze(service)
    assignees: Any = [{"user_id": str(org.users["labeler"]), "team_id": None}]
    with org.app.app_context(), tenancy.organization(org.id), db.transaction() as session:
        ids = list(
            session.scalars(
                text("SELECT id FROM artifacts WHERE organization_id = :o"), {"o": org.id}
            )
        )
        began = time.perf_counter()
        for start in range(0, rows, _BATCH):
            batch = [
                ArtifactAssignment(artifact_id, assignees, 10)
                for artifact_id in ids[start : start + _BATCH]
            ]
            assigning.update_assignments(batch)
            db.checkpoint()
        return rows / (time.perf_counter() - began)


def _get_peak_megabytes() -> float:
    """Return this process's peak resident memory in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
