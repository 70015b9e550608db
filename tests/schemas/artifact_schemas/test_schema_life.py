"""The life of schemas under two admins, against a model: no state outside decisions.md, no change
of a version, no write over another's, and a revision for every change."""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from app.engines.fields import check_fields
from app.schemas.artifact_schemas.transitions import TRANSITIONS, Action
from tests.factories import Org
from tests.factories.properties import examples

MODERATE = examples(
    20,
    stateful_step_count=25,
    print_blob=True,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
FEW = 2

TEXT = {"key": "number", "type": "text"}
CHOICE = {"key": "kind", "type": "choice", "options": [{"value": "a"}, {"value": "b"}]}
# From the first few each of the others breaks one rule, or none.
DRAFTS: list[list[dict[str, Any]]] = [
    [TEXT, CHOICE],
    [TEXT, CHOICE],
    [{**TEXT, "label": "No."}, CHOICE],
    [{**TEXT, "required": True}, CHOICE],
    [{**TEXT, "type": "integer"}, CHOICE],
    [TEXT, {**CHOICE, "options": CHOICE["options"][:1]}],
    [TEXT],
    [],
]

fields = st.sampled_from(DRAFTS).map(check_fields)
admins = st.sampled_from(["admin", "owner"])


def breaks(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> bool:
    """Whether labels of the old fields may not fit the new ones, as decisions.md has it."""
    after = {one["key"]: one for one in new}
    before = {one["key"]: one for one in old}
    gone = before.keys() - after.keys()
    needed = any(one["required"] for key, one in after.items() if key not in before)
    return bool(gone) or needed or any(_worse(before[k], after[k]) for k in before.keys() & after)


def _worse(old: dict[str, Any], new: dict[str, Any]) -> bool:
    if old["type"] != new["type"] or (new["required"] and not old["required"]):
        return True
    offered = {option["value"] for option in new["options"]}
    return any(option["value"] not in offered for option in old["options"])


@dataclass
class Model:
    """What is known of one schema."""

    id: str
    name: str
    fields: list[dict[str, Any]]
    revision: int = 1
    status: str = "draft"
    assisted: bool = False
    versions: list[dict[str, Any]] = field(default_factory=list)

    def change(self, **members: Any) -> None:
        """Take over members; what makes a difference is a revision."""
        self.revision += any(getattr(self, name) != value for name, value in members.items())
        vars(self).update(members)


class Life(RuleBasedStateMachine):
    """Two admins at work on some schemas."""

    org: Org
    schemas = Bundle("schemas")

    @initialize()
    def begin(self) -> None:
        self.known: dict[str, Model] = {}
        self.deleted: list[str] = []

    def send(self, admin: str, method: str, path: str, body: Any = None) -> Any:
        return self.org.api(admin).request(method, f"/schemas{path}", json=body)

    def refused(self, answer: Any, status: int, code: str) -> dict[str, Any]:
        assert (answer.status_code, answer.json["error"]["code"]) == (status, code), answer.json
        return dict(answer.json["error"].get("details") or {})

    def keep(self, answer: Any) -> str:
        made = answer.json["data"]
        assert answer.status_code == 201
        assert made["id"] not in self.known
        self.known[made["id"]] = Model(made["id"], made["name"], made["fields"])
        return str(made["id"])

    def few(self) -> bool:
        """So few schemas that each of them gets far."""
        return len(self.known) < FEW

    @precondition(few)
    @rule(target=schemas, admin=admins, draft=fields)
    def create(self, admin: str, draft: list[dict[str, Any]]) -> str:
        return self.keep(self.send(admin, "POST", "", {"name": "Life", "fields": draft}))

    @precondition(few)
    @rule(target=schemas, admin=admins, schema=schemas)
    def duplicate(self, admin: str, schema: str) -> str:
        original = self.known[schema]
        made = self.keep(self.send(admin, "POST", f"/{schema}/duplicate", {"name": "Copy"}))
        assert self.known[made].fields == original.fields
        return made

    @rule(admin=admins, schema=schemas, draft=fields, behind=st.sampled_from([0, 0, 0, 1]))
    def edit(self, admin: str, schema: str, draft: list[dict[str, Any]], behind: int) -> None:
        model = self.known[schema]
        body = {"fields": draft, "revision": model.revision - behind}
        answer = self.send(admin, "PATCH", f"/{schema}", body)
        if behind:
            details = self.refused(answer, 409, "stale_precondition")
            assert details == {"current_revision": model.revision}
            return
        assert answer.status_code == 200
        model.change(fields=draft)

    @rule(
        admin=admins,
        schema=schemas,
        behind=st.sampled_from([None, 0, 0, 1]),
        allowed=st.booleans(),
        dry=st.sampled_from([False, False, True]),
    )
    def publish(
        self, admin: str, schema: str, behind: int | None, *, allowed: bool, dry: bool
    ) -> None:
        model = self.known[schema]
        count = len(model.versions)
        body: dict[str, Any] = {"allow_breaking": allowed, "dry_run": dry}
        if behind is not None:
            body["base_version"] = count + behind
        answer = self.send(admin, "POST", f"/{schema}/publish", body)
        breaking = bool(count) and breaks(model.versions[-1]["fields"], model.fields)
        if behind:
            details = self.refused(answer, 409, "schema_version_conflict")
            assert details == {"current_version": count}
        elif not model.fields:
            self.refused(answer, 400, "validation_error")
        elif breaking and not (allowed or dry):
            details = self.refused(answer, 400, "schema_breaking_change")
            assert all(change["breaking"] for change in details["changes"])
        else:
            self.published(model, answer, breaking=breaking, dry=dry)

    @rule(schema=schemas, draft=fields, allowed=st.booleans())
    def edit_and_publish(self, schema: str, draft: list[dict[str, Any]], *, allowed: bool) -> None:
        """What one admin edits another publishes: how versions come to follow one another."""
        self.edit("admin", schema, draft, behind=0)
        self.publish("owner", schema, None, allowed=allowed, dry=False)

    def published(self, model: Model, answer: Any, *, breaking: bool, dry: bool) -> None:
        assert answer.status_code == 201
        made = answer.json["data"]
        assert (made["number"], made["breaking"]) == (len(model.versions) + 1, breaking)
        assert made["fields"] == model.fields
        assert made.pop("dry_run") is dry
        assert (made["id"] is None) is dry
        if not dry:
            model.change(versions=[*model.versions, made])

    @rule(admin=admins, schema=schemas, act=st.sampled_from(Action))
    def switch(self, admin: str, schema: str, act: Action) -> None:
        model = self.known[schema]
        answer = self.send(admin, "POST", f"/{schema}/{act}")
        sources, target = TRANSITIONS[act]
        if model.status in sources and (model.versions or act is not Action.ACTIVATE):
            assert answer.status_code == 200
            model.change(status=target)
        else:
            assert self.refused(answer, 409, "conflict") == {"state": model.status}

    @rule(admin=admins, schema=schemas, on=st.booleans())
    def assist(self, admin: str, schema: str, *, on: bool) -> None:
        act = "enable" if on else "disable"
        assert self.send(admin, "POST", f"/{schema}/ai-assist/{act}").status_code == 200
        self.known[schema].change(assisted=on)

    @rule(admin=admins, schema=schemas)
    def delete_stale(self, admin: str, schema: str) -> None:
        headers = {"If-Match": f'"{self.known[schema].revision + 1}"'}
        answer = self.org.api(admin).delete(f"/schemas/{schema}", headers=headers)
        self.refused(answer, 409, "stale_precondition")

    @rule(admin=admins, schema=consumes(schemas))
    def delete(self, admin: str, schema: str) -> None:
        headers = {"If-Match": f'"{self.known[schema].revision}"'}
        assert self.org.api(admin).delete(f"/schemas/{schema}", headers=headers).status_code == 204
        model = self.known.pop(schema)
        self.deleted += [f"/schemas/{schema}"]
        self.deleted += [f"/schema-versions/{version['id']}" for version in model.versions]

    @invariant()
    def everything_is_as_the_model_has_it(self) -> None:
        api = self.org.api("viewer")
        for model in self.known.values():
            shown = api.get(f"/schemas/{model.id}").json["data"]
            current = shown["current_version"]
            last = model.versions[-1] if model.versions else None
            assert (current and current["id"]) == (last and last["id"])
            assert (shown["name"], shown["fields"]) == (model.name, model.fields)
            assert (shown["revision"], shown["status"]) == (model.revision, model.status)
            assert shown["ai_assist_enabled"] is model.assisted

    def teardown(self) -> None:
        api = self.org.api("viewer")
        for model in self.known.values():
            assert api.get(f"/schemas/{model.id}/versions").json["data"] == model.versions[::-1]
        for path in self.deleted:
            assert api.get(path).status_code == 404


def test_the_life_of_schemas(org: Org) -> None:
    run_state_machine_as_test(type("Life", (Life,), {"org": org}), settings=MODERATE)
