"""Compare full-text search with a plain list, and measure statistics and bulk actions."""

import time
from statistics import median
from urllib.parse import quote

from sqlalchemy import text

from app.documents.artifacts.service import reprocessing as artifacts
from app.kit import db, tenancy
from bench import filling, load
from bench.report import Report
from bench.service import Service
from tests.factories import Org, make_org
from tests.factories.labels import make_labeled

CONNECTIONS = 2
"""The number of connections: one for each of two cores, so that requests do not wait."""
ROUNDS = 7
BULK_COUNT = 1000

# Each text has sixty of ten thousand words. As in natural language, most words are rare: the higher
# the number of a word, the rarer it is.
_TEXTS = """
INSERT INTO artifact_texts (organization_id, artifact_id, text)
SELECT :org, id, CASE WHEN n % 2 = 0 THEN 'Common. ' ELSE '' END
    || CASE WHEN n % (:rows / 1000) = 0 THEN 'Middlings. ' ELSE '' END
    || CASE WHEN n = 500 THEN 'Rarities. ' ELSE '' END
    || (SELECT string_agg('word' || CAST(floor(10000 * power(random(), 3)) AS int), ' ')
        FROM generate_series(1, 60) AS place WHERE n > 0)
FROM (SELECT id, row_number() OVER (ORDER BY created_at) AS n FROM artifacts
      WHERE organization_id = :org) AS a
"""
_INDEX = "INSERT INTO artifact_search_backlog (organization_id) VALUES (:org)"


def measure(report: Report, service: Service, names: set[str], rows: int, seconds: float) -> None:
    """Run the benchmarks in `names`, or all if `names` is empty, with `rows` text documents."""
    org = make_org(service.app)
    _fill(service, org, rows)
    if not names or "search" in names:
        _measure_search(report, service, org, rows, seconds)
    if not names or "stats" in names:
        _measure_statistics(report, service, org, rows)
    if not names or "archive" in names:
        _measure_archive(report, service, org)
        _measure_bulk_actions(report, service, org, rows)


def _fill(service: Service, org: Org, rows: int) -> None:
    with filling.disable_triggers(service):
        make_labeled(org, rows, texts=False)
        with service.app.app_context(), tenancy.organization(org.id), db.transaction() as session:
            session.execute(text("SET LOCAL statement_timeout = 0"))
            session.execute(text(_TEXTS), {"org": org.id, "rows": rows})
    with service.app.app_context(), tenancy.organization(org.id), db.transaction() as session:
        session.execute(text(_INDEX), {"org": org.id})
    began = time.perf_counter()
    with service.app.app_context(), tenancy.across_organizations(reason="as the job does"):
        artifacts.index_backlog(db.session().commit)
    seconds = time.perf_counter() - began
    filling.analyze(service)
    print(f"{rows:,} documents of 60 words indexed in {seconds:.1f} s", flush=True)


def _measure_search(report: Report, service: Service, org: Org, rows: int, seconds: float) -> None:
    api = org.api("viewer")
    headers = api.headers()

    def measure_list(query: str) -> load.Result:
        data = load.build_request("GET", f"/api/v1/artifacts?page_size=100{query}", headers)
        return load.run(service.base, lambda *_: data, connections=CONNECTIONS, seconds=seconds)

    for title, word, count in (
        ("a rare word", "rarity", 1),
        ("1,000 hits", "middling", 1000),
        ("half of the documents", "common", rows // 2),
        ("half, without 1,000", "common -middling", None),
    ):
        total = api.get(f"/artifacts?page_size=1&q={quote(word)}").json["meta"]["total"]
        assert count is None or total == count, (word, total)
        query = f"&q={quote(word)}"
        pairs = [
            (measure_list(query).get_quantile(0.5), measure_list("").get_quantile(0.5))
            for _ in range(ROUNDS)
        ]
        ours, plain = (1000 * median(times) for times in zip(*pairs, strict=True))
        ratio = median(search / plain_list for search, plain_list in pairs)
        name = f"search of {rows:,}: {title}"
        report.add_at_most(name, f"{ours:.1f} ms", f"{plain:.1f} ms plain list", ratio, 3)


def _measure_statistics(report: Report, service: Service, org: Org, rows: int) -> None:
    ours = _measure_request(service, org, "GET", "/artifacts/stats")
    name = f"statistics of {rows:,}"
    report.add_without_floor(name, f"{ours:.0f} ms", "<= 500 ms", ours <= 500)


def _measure_request(service: Service, org: Org, method: str, path: str) -> float:
    connection = load.Connection(service.base)
    request = load.build_request(method, f"/api/v1{path}", org.api("admin").headers())
    return median(1000 * connection.measure(request)[0] for _ in range(ROUNDS))


def _measure_archive(report: Report, service: Service, org: Org) -> None:
    """Measure archiving and restoring a thousand documents by id, alternately."""
    api = org.api("admin")
    listed = api.get(f"/artifacts?page_size={BULK_COUNT}").json["data"]
    ids = [document["id"] for document in listed]
    connection = load.Connection(service.base)
    times = []
    for round_number in range(ROUNDS + 1):
        body = {"artifact_ids": ids, "archived": round_number % 2 == 0}
        path = "/api/v1/artifacts/bulk-archive"
        request = load.build_json_request("POST", path, api.headers(), body)
        times.append(connection.measure_bulk_action(request, BULK_COUNT))
    ours = median(times)
    name = f"archive {BULK_COUNT:,} by id"
    report.add_without_floor(name, f"{ours:.2f} s", "<= 1.5 s", ours <= 1.5)


_MIN_BULK_RATIO, _MAX_BULK_SECONDS = 0.5, 20
_FLOOR_STATEMENTS = {
    "archive": "UPDATE artifacts SET archived = true, claim_user_id = NULL,"
    " claim_expires_at = NULL, updated_at = now(), revision = revision + 1"
    " WHERE organization_id = :org",
    "restore": "UPDATE artifacts SET archived = false, updated_at = now(),"
    " revision = revision + 1 WHERE organization_id = :org",
    "delete": "DELETE FROM artifacts WHERE organization_id = :org",
}
"""The simplest statements that change the rows in the same way as the bulk actions."""


def _measure_bulk_actions(report: Report, service: Service, org: Org, rows: int) -> None:
    """Measure archiving, restoring and deleting by filter. The floor is one SQL statement.

    This deletes all documents of the organization.
    """
    headers = org.api("admin").headers()
    for action, path, body in (
        ("archive", "archive", {"filter": {}}),
        ("restore", "archive", {"filter": {"archived": "true"}, "archived": False}),
        ("delete", "delete", {"filter": {}}),
    ):
        floor = filling.time_and_roll_back(service, org, _FLOOR_STATEMENTS[action])
        request = load.build_json_request(
            "POST", f"/api/v1/artifacts/bulk-{path}", headers, {**body, "expected_count": rows}
        )
        # The connection is opened after the floor has run, because the service closes idle ones. On
        # a slow machine, deleting 100,000 documents takes more than a minute.
        connection = load.Connection(service.base, timeout=600)
        ours = connection.measure_bulk_action(request, rows)
        name = f"{action} {rows:,} by filter"
        report.add_action(name, ours, floor, _MIN_BULK_RATIO, _MAX_BULK_SECONDS)
