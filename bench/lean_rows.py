"""Compare read requests with a floor that runs the simplest SQL for the same data.

Unlike the floor of `requests_base`, this floor does not run the service's own statements. It gets
the organization id as a parameter, does not authenticate, and returns the columns unchanged.
"""

import json
from collections.abc import Callable
from typing import Any

from bench import load
from bench.report import Report
from bench.service import Service, run_floor
from tests.factories import Org
from tests.factories.labels import Labeled

CONNECTIONS = 8
MIN_RATIO = 0.5
_ROUNDS = 5
_DOCUMENT = """
    id, name, schema_id, external_id, metadata, priority, due_at, gold, archived, media_type,
    size_bytes, sha256, page_count, language, text_length, status, failure, connector_id,
    ingestion_job_id, assignees, claim_user_id, claim_expires_at, label_counts, created_by,
    created_at, updated_at, revision"""
_TAG_SET = """
    SELECT t.id, artifact_id, schema_id, schema_version_id, labeler_id, reviewer_id, source, tags,
        tag_count, t.status, submitted_at, decided_at, reason, rejections, seconds_spent,
        comment_count, merged_from, provenance, superseded_by, t.created_at, t.updated_at,
        t.revision, l.email, l.name, r.email AS reviewer_email, r.name AS reviewer_name
    FROM tag_sets t
    LEFT JOIN users l ON l.id = labeler_id
    LEFT JOIN users r ON r.id = reviewer_id
    WHERE t.organization_id = %(org)s"""
_LIST = f"""
    SELECT {_DOCUMENT} FROM artifacts WHERE organization_id = %(org)s AND NOT archived
    ORDER BY created_at DESC, id DESC LIMIT 100"""
_TEXT = """
    SELECT status, text, text_length, language
    FROM artifacts a JOIN artifact_texts t USING (organization_id)
    WHERE organization_id = %(org)s AND id = %(artifact)s AND artifact_id = %(artifact)s"""
_PAGES = """
    SELECT number, start, "end" FROM artifact_pages
    WHERE organization_id = %(org)s AND artifact_id = %(artifact)s ORDER BY number"""
_TOTAL = "SELECT sum(n) FROM counts WHERE organization_id = %(org)s AND cube = '{cube}'"
_STATEMENTS = {
    "list": (_LIST, _TOTAL.format(cube="artifacts") + " AND facets[3] = 'false'"),
    "tag_set": (_TAG_SET + " AND t.id = %(tag_set)s",),
    "tag_sets": (
        _TAG_SET + " ORDER BY t.created_at DESC, t.id DESC LIMIT 100",
        _TOTAL.format(cube="tag_sets"),
    ),
    "text": (_TEXT, _PAGES),
}


def measure(
    report: Report, service: Service, names: set[str], org: Org, labeled: Labeled, seconds: float
) -> None:
    """Measure the rows that `names` lists, or all rows if `names` is empty."""
    api = org.api("viewer")
    tag_set = api.get("/tag-sets?page_size=1").json["data"][0]
    artifact_id = tag_set["artifact_id"]
    rows = {
        "list": (f"list of 100 out of {labeled.count:,}, lean", "/artifacts?page_size=100"),
        "tag_set": ("one tag set with its tags", f"/tag-sets/{tag_set['id']}"),
        "tag_sets": ("100 tag sets with their tags", "/tag-sets?page_size=100"),
        "text": ("text of a document", f"/artifacts/{artifact_id}/text"),
    }
    values = {"org": str(org.id), "tag_set": tag_set["id"], "artifact": artifact_id}
    plan: dict[str, Any] = {"prepare": []}
    for name, statements in _STATEMENTS.items():
        plan[name] = {"statements": [[sql, values] for sql in statements]}
    plan_file = service.folder / "lean.json"
    plan_file.write_text(json.dumps(plan))
    # Only reviewers see the drafts of other users in the list.
    headers = {name: org.api("viewer").headers() for name in rows}
    headers["tag_sets"] = org.api("reviewer").headers()
    with run_floor(service, plan_file) as base:
        for name, (title, path) in rows.items():
            if not names or name in names:
                our_load = _build_load(service.base, f"/api/v1{path}", headers[name], seconds)
                floor_load = _build_load(base, f"/lean/{name}", {}, seconds)
                _compare(report, title, our_load, floor_load)


def _build_load(
    base: str, path: str, headers: dict[str, str], seconds: float
) -> Callable[[], load.Result]:
    data = load.build_request("GET", path, headers)
    return lambda: load.run(base, lambda *_: data, connections=CONNECTIONS, seconds=seconds)


def _compare(
    report: Report,
    title: str,
    our_load: Callable[[], load.Result],
    floor_load: Callable[[], load.Result],
) -> None:
    our_round, floor_round, ratio = load.compare(our_load, floor_load, rounds=_ROUNDS)
    report.add_at_least(
        title,
        f"{our_round.per_second:,.0f}/s",
        f"{floor_round.per_second:,.0f}/s",
        ratio,
        MIN_RATIO,
    )
