"""Create an organization with records in many states, and request bodies that the API accepts."""

from dataclasses import dataclass, field
from typing import Any

from tests.factories import Org, run_jobs_of
from tests.factories.drift import insert_drift_reports
from tests.factories.invoices import PROFILE, insert_invoices
from tests.factories.notifications import insert_notifications
from tests.factories.orgs import PASSWORD, Api

HOOK = "http://127.0.0.2:9/hook"
"""An address to which deliveries are allowed, but where no server listens."""

_TEXT = "Invoice A-{}\nTotal: 119.00 EUR\n"
_FIELDS = [
    {"key": "number", "type": "text", "required": True},
    {"key": "total", "type": "money"},
    {"key": "day", "type": "date"},
    {"key": "kind", "type": "choice", "options": [{"value": "a"}, {"value": "b"}]},
    {"key": "clause", "type": "span", "multiple": True},
    {"key": "place", "type": "region"},
    {"key": "lines", "type": "table", "columns": [{"key": "item", "type": "text"}]},
]
_TAGS = [
    {"field": "number", "value": "A-1", "evidence": [{"page": 1, "start": 8, "end": 11}]},
    {"field": "total", "value": "119.00 EUR", "confidence": 0.5},
    {"field": "day", "value": "2026-01-31"},
    {"field": "lines.item", "value": "Rope", "row": 0},
]
_SETTINGS = {
    "locale": "de-AT",
    "time_zone": "Europe/Vienna",
    "retention_days": 365,
    "claim_minutes": 45,
    "allow_self_review": False,
    "ai_provider": {"kind": "builtin", "base_url": None, "model": None, "api_key": None},
}


@dataclass
class Seeds:
    """Values for requests: `ids` by path parameter, and valid `bodies` by operation name."""

    org: Org
    ids: dict[str, list[Any]] = field(default_factory=dict)
    bodies: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def find_ids(self, path: str, name: str) -> list[Any]:
        """Return the ids for a path parameter. The path decides which type of job `job_id` is."""
        if name == "job_id" and path.startswith("/ingestion-jobs"):
            name = "ingestion_job_id"
        return self.ids.get(name, [])


def create_seeds(org: Org) -> Seeds:
    """Fill `org` with the API, and return the values. Of the background jobs, only crawls run."""
    seeds = Seeds(org)
    owner, labeler = org.api("owner"), org.api("labeler")
    schemas, versions = _create_schemas(owner)
    texts = [{"name": f"{n}.txt", "text": _TEXT.format(n)} for n in range(10)]
    artifacts = [_create(owner, "/artifacts", schema_id=schemas[0], **body)["id"] for body in texts]
    sets = _create_tag_sets(owner, labeler, artifacts)
    comments = [
        _create(owner, f"/tag-sets/{sets[0]}/comments", body="Why?")["id"] for _ in range(3)
    ]
    hook = _create(owner, "/webhooks", url=HOOK, events=["tag_set.accepted"])["id"]
    deliveries = [_create(owner, f"/webhooks/{hook}/test")["id"] for _ in range(3)]
    _create(owner, f"/webhooks/{hook}/deactivate")  # Abandons pending deliveries.
    _create(owner, f"/webhooks/{hook}/activate")
    content = '{"text": "Imported words"}\n{"text": 7}\n'
    imports = [_create(owner, "/artifacts/bulk-import", content=content) for _ in range(2)]
    connectors = _create_connectors(owner, org)
    alerts = owner.get(f"/connectors/{connectors[0]}/alerts").json["data"]
    jobs = [_create(owner, "/exports", format=name) for name in ("jsonl", "csv")]
    scheduled_exports = [
        _create(owner, "/exports/scheduled", name=f"Export {n}", format="jsonl", cron="0 6 * * *")
        for n in range(2)
    ]
    for export in scheduled_exports[0], scheduled_exports[0], scheduled_exports[1]:
        run = _create(owner, f"/exports/scheduled/{export['id']}/run")
        _create(owner, f"/exports/{run['job_id']}/cancel")
    key = {"name": "A key", "role": "reviewer", "read_only": True}
    runs = [_create(owner, "/quality/compute", schema_id=id_)["id"] for id_ in schemas[:2]]
    keys = [_create(owner, f"/organizations/{org.slug}/api-keys", **key)["id"] for _ in range(3)]
    users = [str(org.users[role]) for role in ("labeler", "reviewer", "viewer")]
    seeds.ids = {
        "schema_id": schemas,
        "version_id": versions,
        "artifact_id": artifacts,
        "page_number": [1, 1, 2],
        "tag_set_id": sets,
        "comment_id": comments,
        "item_id": sets[2:5],
        "webhook_id": [hook],
        "delivery_id": deliveries,
        "job_id": [job["id"] for job in jobs],
        "export_id": [export["id"] for export in scheduled_exports],
        "ingestion_job_id": [job["id"] for job in imports],
        "connector_id": connectors,
        "alert_id": [alert["id"] for alert in alerts],
        "format_id": ["jsonl", "csv"],
        "template_id": ["invoice", "w9"],
        "org_slug": [org.slug],
        "invitation_id": _create_invitations(owner, org),
        "key_id": keys,
        "team_id": _create_teams(owner, users),
        "user_id": users,
        "session_id": _create_sessions(org),
        "rule_id": _create_rules(owner, users[0]),
        "run_id": runs,
        "notification_id": insert_notifications(org, org.users["owner"], 3),
        "invoice_id": insert_invoices(org),
        "report_id": insert_drift_reports(org, schemas[0], 3),
    }
    seeds.bodies = _build_bodies(seeds)
    return seeds


def _create_invitations(owner: Api, org: Org) -> list[str]:
    path = f"/organizations/{org.slug}/invitations"
    addresses = [f"{role}.{org.slug}@test.example" for role in ("viewer", "labeler", "admin")]
    return [_create(owner, path, email=email, role="viewer")["id"] for email in addresses]


def _create(api: Api, path: str, **body: Any) -> Any:
    answer = api.post(path, json=body or None)
    assert answer.status_code in (200, 201, 202), answer.json
    return answer.json["data"]


def _create_teams(owner: Api, users: list[str]) -> list[str]:
    """Create a chain of teams, each with all of the users, and return their ids."""
    teams: list[str] = []
    for number, lead in enumerate(users):
        body = {"lead_id": lead, "skills": ["a"], **({"parent_id": teams[-1]} if teams else {})}
        team = _create(owner, "/teams", name=f"Team {number}", **body)
        _create(owner, f"/teams/{team['id']}/members", user_ids=users)
        teams.append(team["id"])
    return teams


def _create_connectors(owner: Api, org: Org) -> list[str]:
    """Create connectors, of which the first has an alert because its crawl has failed."""
    bodies = [
        {"type": "local", "settings": {"path": "missing"}},
        {"type": "http", "settings": {"url": "http://127.0.0.2:9/"}, "schedule": "0 6 * * *"},
        {"type": "local", "settings": {}, "enabled": False},
    ]
    ids = [_create(owner, "/connectors", name="Inbox", **body)["id"] for body in bodies]
    _create(owner, f"/connectors/{ids[0]}/crawl")
    run_jobs_of(org, "crawls")
    return ids


def _create_rules(owner: Api, user: str) -> list[str]:
    """Create three rules, of which the last assigns documents to a user."""
    actions = [{"priority": 60}, {"due_in_hours": 24}, {"user_id": user}]
    return [
        _create(owner, "/routing-rules", name=f"Rule {number}", action=action, stop=False)["id"]
        for number, action in enumerate(actions)
    ]


def _create_sessions(org: Org) -> list[str]:
    """Create sessions of the owner in addition to that of `org.api`, and return their ids."""
    body = {"email": org.email("owner"), "password": PASSWORD}
    for _ in range(3):
        _create(org.anonymous(), "/auth/login", **body)
    listed = org.api("owner").get("/auth/sessions").json["data"]
    return [session["id"] for session in listed if not session["current"]]


def _create_schemas(owner: Api) -> tuple[list[str], list[str]]:
    schemas = [
        _create(owner, "/schemas", name=f"Invoices {i}", fields=_FIELDS)["id"] for i in range(3)
    ]
    versions = [_create(owner, f"/schemas/{s}/publish", note="first")["id"] for s in schemas[:2]]
    for schema in schemas[:2]:
        _create(owner, f"/schemas/{schema}/activate")
    return schemas, versions


def _create_tag_sets(owner: Api, labeler: Api, artifacts: list[str]) -> list[str]:
    """Create two drafts of the owner, and tag sets of the labeler in three other statuses."""
    sets = []
    labelers = [*[owner] * 2, *[labeler] * 5]
    for artifact, api in zip(artifacts, labelers, strict=False):
        draft = _create(api, f"/artifacts/{artifact}/tag-sets", **{"from": "empty"})
        saved = api.put(f"/tag-sets/{draft['id']}/tags", json={"tags": _TAGS, "revision": 1})
        assert saved.status_code == 200, saved.json
        sets.append(draft["id"])
    for tag_set in sets[2:]:
        _create(labeler, f"/tag-sets/{tag_set}/submit")
    _create(owner, f"/tag-sets/{sets[5]}/accept", note="Good")
    _create(owner, f"/tag-sets/{sets[6]}/reject", reason="Look again")
    return sets


def _build_account_bodies(email: str) -> dict[str, list[dict[str, Any]]]:
    new = {"email": "new@test.example", "password": "three rivers meet", "name": "New"}
    change = {"current_password": PASSWORD, "new_password": "three rivers meet"}
    profile = {"name": "Renamed", "locale": "pt-BR", "time_zone": "America/Sao_Paulo"}
    return {
        "register": [{**new, "organization_name": "New"}, {**new, "email": "other@test.example"}],
        "login": [{"email": email, "password": PASSWORD}],
        "request_password_reset": [{"email": email}, {"email": "nobody@test.example"}],
        "confirm_password_reset": [{"token": "x", "password": "three rivers meet"}],
        "change_password": [change],
        "request_email_change": [{"email": "new@test.example", "password": PASSWORD}],
        "confirm_email_change": [{"token": "x"}],
        "update_me": [{**profile, "revision": 1}, {"name": "Again"}],
    }


def _build_sso_bodies(seeds: Seeds) -> dict[str, list[dict[str, Any]]]:
    """Return bodies whose issuer has no server, so that only the last check refuses them."""
    team = seeds.ids["team_id"][0]
    mapping = [{"group": "staff", "role": "labeler", "team_id": team}]
    oidc = {"issuer": "http://127.0.0.2:9", "client_id": "labeling", "client_secret": "s"}
    start = {"org_slug": seeds.org.slug, "redirect_uri": "https://app.example/", "next": "/x"}
    return {
        "configure_sso": [
            {
                "kind": "oidc",
                "oidc": {**oidc, "scopes": ["openid", "email"], "groups_claim": "groups"},
                "default_role": "viewer",
                "email_domains": ["test.example"],
                "group_mapping": mapping,
                "enforced": False,
                "revision": 0,
            },
            {"kind": "saml", "saml": {"metadata_url": "http://127.0.0.2:9/metadata"}},
        ],
        "start_sso": [{**start, "code_challenge": "x" * 43}, {"email": "a@test.example"}],
        "exchange_sso_code": [{"code": "x" * 43, "code_verifier": "y" * 43}],
    }


def _build_bodies(seeds: Seeds) -> dict[str, list[dict[str, Any]]]:
    schema, tag_set = seeds.ids["schema_id"][0], seeds.ids["tag_set_id"][0]
    hook = {"url": HOOK, "events": ["export.completed"], "description": "A hook"}
    policy = {"labels_per_artifact": 2, "sample_rate": 0.5, "auto_accept_agreement": 0.9}
    export_filter = {
        "schema_id": schema,
        "statuses": ["draft", "accepted"],
        "created_after": "2026-01-01T00:00:00Z",
        "artifact_ids": seeds.ids["artifact_id"][:2],
    }
    email = seeds.org.email("viewer")
    schema_body = {
        "name": "New",
        "document_type": "x",
        "fields": _FIELDS,
        "review_policy": policy,
        "required_skills": ["Tax"],
    }
    return {
        **_build_account_bodies(email),
        **_build_sso_bodies(seeds),
        "saml_acs": [{"SAMLResponse": "PHgvPg==", "RelayState": "x"}],
        "compute_quality": [
            {
                "schema_id": schema,
                "fields": ["number", "lines.item"],
                "metrics": ["percent", "f1"],
                "from": "2026-01-01T00:00:00Z",
            }
        ],
        "create_api_key": [
            {"name": "New", "role": "viewer", "expires_at": "2999-01-01T00:00:00Z"},
            {"name": "New", "role": "admin", "read_only": True},
        ],
        "create_organization": [{"name": "Another", "settings": _SETTINGS}],
        "update_organization": [{"name": "Other", "settings": _SETTINGS}, {"revision": 1}],
        "close_organization": [{"slug": seeds.org.slug, "revision": 1}],
        "update_member": [{"role": "reviewer"}, {"role": "viewer", "revision": 1}],
        "create_invitation": [
            {"email": "guest@test.example", "role": "viewer", "team_ids": seeds.ids["team_id"][:1]}
        ],
        "accept_invitation": [{"name": "Guest", "password": "three rivers meet here"}],
        "transfer_ownership": [{"user_id": seeds.ids["user_id"][0]}],
        "create_schema": [schema_body],
        "update_schema": [{**schema_body, "revision": 1}, {"name": "Renamed", "revision": 3}],
        "duplicate_schema": [{"name": "A copy"}, {}],
        "publish_schema": [{"note": "n", "base_version": 1, "dry_run": True}, {}],
        "create_artifact": [
            {
                "name": "new.txt",
                "text": "Some words",
                "schema_id": schema,
                "metadata": {"lot": 7, "who": "me"},
                "due_at": "2026-12-31T23:59:59Z",
                "external_id": "x-1",
            }
        ],
        **_build_document_bodies(seeds),
        "release_artifact": [{"reason": "Too hard"}],
        **_build_distribution_bodies(seeds),
        "create_tag_set": [{"from": "empty"}, {"from": tag_set}],
        "replace_tags": [{"tags": _TAGS, "revision": 2, "seconds_spent": 5}],
        "accept_tag_set": [{"tags": _TAGS, "note": "ok", "revision": 3}, {}],
        "reject_tag_set": [{"reason": "No", "send_to": "pool"}],
        "reopen_tag_set": [{"reason": "Look again"}, {"reason": "No", "to": "labeler"}],
        "merge_tag_sets": [
            {
                "tag_set_ids": seeds.ids["tag_set_id"][:2],
                "strategy": "choose",
                "choices": [{"field": "number", "row": None, "tag_set_id": tag_set}],
                "tags": _TAGS[:1],
                "accept": True,
                "note": "Both",
            }
        ],
        "create_tag_set_comment": [
            {
                "body": "Which *total*?",
                "field": "lines.item",
                "mentions": seeds.ids["user_id"][:2],
            },
            {"body": "This one.", "parent_id": seeds.ids["comment_id"][0]},
        ],
        **_build_review_bodies(seeds),
        "create_export": [
            {
                "format": "csv",
                "filter": export_filter,
                "options": {"delimiter": ";"},
                "include": {"tags": "all", "evidence": False, "text": True},
            },
            {"format": "jsonl"},
        ],
        **_build_export_bodies(export_filter),
        **_build_connector_bodies(seeds),
        **_build_template_bodies(),
        **_build_team_bodies(seeds),
        **_build_routing_bodies(seeds),
        "provision_organization": [
            {
                "organization": {"name": "Provisioned", "slug": "provisioned"},
                "owner": {"email": "owner@provisioned.example", "name": "Owner"},
                "plan": "team",
            },
            {"organization": {"name": "P"}, "owner": {"email": email, "name": "Owner"}},
        ],
        "set_organization_plan": [
            {"plan": "team", "limits": {"members": 20, "stored_bytes": 2**40}, "revision": 1},
            {"plan": "business", "limits": {"webhooks": None}},
        ],
        "suspend_organization": [{"reason": "Not paid", "revision": 1}],
        "change_plan": [{"plan": "team", "when": "period_end"}, {"plan": "free"}],
        "set_billing_profile": [{**PROFILE, "revision": 0}, PROFILE],
        "close_billing_period": [{"period": "2026-01"}],
        "update_notification_preferences": [
            {"mention": {"in_app": True, "email": False}, "plan_limit": {}},
            {"revision": 1},
        ],
        "read_notification": [{"read": False}, {}],
        "set_delivery_preferences": [
            {
                "email_frequency": "daily",
                "quiet_hours": {"from": "22:00", "to": "07:30"},
                "revision": 0,
            },
            {"email_frequency": "hourly", "quiet_hours": None},
        ],
        "detect_drift": [
            {
                "schema_id": seeds.ids["schema_id"][1],
                "baseline": {"from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z"},
                "current": {"from": "2026-02-01T00:00:00Z", "to": "2026-02-08T00:00:00Z"},
                "fix_baseline": True,
            },
            {"schema_id": seeds.ids["schema_id"][2]},
        ],
        **_build_feedback_bodies(seeds),
        "create_webhook": [hook],
        "update_webhook": [{**hook, "revision": 1}],
        "activate_webhook": [{"revision": 1}, {}],
    }


def _build_feedback_bodies(seeds: Seeds) -> dict[str, list[dict[str, Any]]]:
    report = {
        "artifact_id": seeds.ids["artifact_id"][0],
        "field": "lines.item",
        "row": 0,
        "model": "other/1",
        "predicted": "Rope",
        "correct": "Rope",
        "confidence": 0.9,
        "tag_set_id": seeds.ids["tag_set_id"][0],
    }
    missed = {
        "artifact_id": seeds.ids["artifact_id"][1],
        "field": "number",
        "model": "other/1",
        "correct": "A-1",
    }
    return {
        "create_prediction_feedback": [report, missed],
        "create_prediction_feedback_bulk": [{"items": [report, {**missed, "model": "other/2"}]}],
    }


def _build_review_bodies(seeds: Seeds) -> dict[str, list[dict[str, Any]]]:
    items, reviewer = seeds.ids["item_id"], seeds.ids["user_id"][1]
    return {
        "claim_next_review": [
            {"schema_id": seeds.ids["schema_id"][0], "exclude": items[:1]},
            {"flags": ["resubmitted"], "skip_held": True},
        ],
        "escalate_review_item": [
            {"user_id": reviewer, "reason": "Too hard"},
            {"team_id": seeds.ids["team_id"][0], "reason": "Theirs"},
        ],
        "bulk_accept_reviews": [
            {"tag_set_ids": items[:1], "note": "Good"},
            {"filter": {"mine": True, "flag": "disagreement"}, "expected_count": 0},
        ],
        "bulk_reject_reviews": [
            {"tag_set_ids": items[1:2], "reason": "No", "send_to": "pool"},
            {"tag_set_ids": items[2:], "reason": "Again", "send_to": "labeler"},
            {"filter": {"escalated": True}, "expected_count": 0, "reason": "No"},
        ],
        "bulk_assign_reviews": [
            {"tag_set_ids": items, "user_ids": [reviewer], "due_at": "2027-01-31T12:00:00Z"},
            {"tag_set_ids": items, "team_id": seeds.ids["team_id"][0]},
            {
                "filter": {"claimed": False, "created_before": "2027-01-31T12:00:00Z"},
                "expected_count": len(items),
                "user_ids": [reviewer],
            },
        ],
    }


def _build_distribution_bodies(seeds: Seeds) -> dict[str, list[dict[str, Any]]]:
    labeler, team = seeds.ids["user_id"][0], seeds.ids["team_id"][0]
    artifacts, schema = seeds.ids["artifact_id"], seeds.ids["schema_id"][0]
    return {
        "assign_artifact": [
            {"user_ids": [labeler], "due_at": "2026-12-31T23:59:59Z"},
            {"team_id": team, "due_at": None},
            {"user_ids": []},
        ],
        "claim_next_artifact": [
            {"schema_ids": [schema], "team_id": team, "language": "en", "skip_held": True},
            {"exclude": artifacts[:2]},
            {},
        ],
        "bulk_assign_artifacts": [
            {"artifact_ids": artifacts, "user_ids": [labeler], "strategy": "everyone"},
            {
                "filter": {
                    "schema_id": schema,
                    "status": ["ready"],
                    "assigned": False,
                    "due_before": "2026-12-31T23:59:59z",
                },
                "expected_count": 3,
                "team_id": team,
                "strategy": "least_loaded",
                "due_at": "2026-12-31T23:59:59Z",
            },
        ],
    }


def _build_document_bodies(seeds: Seeds) -> dict[str, list[dict[str, Any]]]:
    artifact_ids = seeds.ids["artifact_id"][-2:]
    selection = {"filter": {"q": "rope -never", "status": ["ready"]}, "expected_count": 3}
    return {
        "update_artifact": [
            {
                "name": "renamed.txt",
                "schema_id": seeds.ids["schema_id"][1],
                "external_id": "x-2",
                "metadata": {"lot": 8, "paid": True},
                "priority": 90,
                "due_at": "2026-12-31T23:59:59Z",
                "gold": True,
                "archived": False,
                "revision": 1,
            },
            {"schema_id": None, "due_at": None},
        ],
        "bulk_import_artifacts": [
            {"content": '{"text": "One"}', "format": "jsonl", "name": "a.jsonl"},
            {"content": "text;lot\nTwo;7\n", "schema_id": seeds.ids["schema_id"][0]},
        ],
        "bulk_archive_artifacts": [{"artifact_ids": artifact_ids, "archived": False}, selection],
        "bulk_delete_artifacts": [{"artifact_ids": artifact_ids[:1]}, selection],
    }


def _build_connector_bodies(seeds: Seeds) -> dict[str, list[dict[str, Any]]]:
    store = {"bucket": "papers", "access_key_id": "key", "secret_access_key": "secret"}
    common = {"schedule": "0 6 * * 1-5", "include": ["*.pdf"], "exclude": ["old/**"]}
    return {
        "create_connector": [
            {"name": "A bucket", "type": "s3", "settings": store, **common},
            {"name": "A folder", "type": "local", "settings": {}, "enabled": False},
        ],
        "update_connector": [
            {**common, "name": "Renamed", "enabled": False, "revision": 1},
            {"schema_id": seeds.ids["schema_id"][0], "schedule": None},
        ],
    }


def _build_export_bodies(export_filter: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return bodies of previews and of scheduled exports."""
    web = {"kind": "http", "settings": {"url": "http://127.0.0.2:9/{name}", "token": "t"}}
    times = {"cron": "0 6 * * 1-5", "time_zone": "Europe/Vienna"}
    return {
        "preview_export": [
            {"format": "json", "filter": export_filter, "include": {"tags": "all"}, "limit": 2},
            {"format": "xlsx"},
        ],
        "create_scheduled_export": [
            {
                "name": "Nightly",
                "format": "csv",
                "options": {"delimiter": ";"},
                "filter": export_filter,
                "include": {"tags": "all"},
                "destination": web,
                "mode": "full",
                "paused": True,
                **times,
            },
            {"name": "Changes", "format": "jsonl", "mode": "incremental", **times},
        ],
        "update_scheduled_export": [
            {"name": "Weekly", "destination": web, "revision": 1, **times},
            {"format": "csv", "options": {}, "filter": {}, "include": {}, "paused": True},
        ],
    }


def _build_template_bodies() -> dict[str, list[dict[str, Any]]]:
    """Return bodies that create schemas from templates and from files of each format."""
    selection = {"name": "New", "document_type": "x", "fields": ["total_amount", "line_items"]}
    json_schema = {"title": "New", "properties": {"a": {"type": "string"}, "b": {"enum": ["c"]}}}
    labels = '<Labels name="l" toName="t"><Label value="Person"/></Labels>'
    config = f'<View><Text name="t" value="$text"/>{labels}</View>'
    return {
        "instantiate_schema_template": [selection, {}],
        "import_schema": [
            {"format": "json_schema", "content": json_schema, "name": "N", "document_type": "x"},
            {"format": "portable", "content": {"name": "New", "fields": _FIELDS}},
            {"format": "label_studio", "content": config, "dry_run": True},
        ],
    }


def _build_team_bodies(seeds: Seeds) -> dict[str, list[dict[str, Any]]]:
    first, last = seeds.ids["team_id"][0], seeds.ids["team_id"][-1]
    user = seeds.ids["user_id"][0]
    team = {"name": "New", "parent_id": first, "lead_id": user, "skills": ["b"], "description": "d"}
    return {
        "create_team": [team, {"name": "Other"}],
        "update_team": [{**team, "parent_id": last}, {"skills": ["c"], "revision": 1}],
        "add_team_members": [
            {"members": [{"user_id": user, "role": "lead"}]},
            {"user_ids": seeds.ids["user_id"], "revision": 1},
        ],
    }


def _build_routing_bodies(seeds: Seeds) -> dict[str, list[dict[str, Any]]]:
    team, user = seeds.ids["team_id"][0], seeds.ids["user_id"][0]
    schema, rules = seeds.ids["schema_id"][0], seeds.ids["rule_id"]
    conditions = {
        "all": [
            {"attribute": "name", "operator": "matches", "value": "^[0-9]+[.]txt$"},
            {
                "any": [
                    {"attribute": "metadata.lot", "operator": "in", "value": [1, "a", True]},
                    {"attribute": "page_count", "operator": "at_least", "value": 1},
                    {"attribute": "schema_id", "operator": "not_equals", "value": schema},
                    {"attribute": "confidence", "operator": "not_exists"},
                ]
            },
        ]
    }
    action = {"team_id": team, "strategy": "skills", "priority": 70, "due_in_hours": 12}
    rule = {"name": "New", "conditions": conditions, "action": action, "stop": False}
    document = {
        "name": "1.txt",
        "page_count": 2,
        "metadata": {"lot": 1},
        "schema_id": schema,
        "text": "Words",
        "confidence": 0.5,
    }
    return {
        "create_routing_rule": [
            {**rule, "position": 1, "apply": True},
            {"name": "Other", "action": {"user_id": user}, "enabled": False},
        ],
        "update_routing_rule": [{**rule, "position": 2, "revision": 1}, {"enabled": False}],
        "reorder_routing_rules": [{"rule_ids": rules}, {"rule_ids": rules[::-1], "apply": True}],
        "simulate_routing_rules": [
            {"artifact_ids": seeds.ids["artifact_id"][:3]},
            {"documents": [document, {}], "rules": [rule]},
        ],
    }
