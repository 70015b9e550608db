"""Create routing rules with the API, and read where documents were routed."""

from typing import Any
from uuid import UUID

from app.kit import db
from app.workflow.routing_rules.service import routing
from tests.factories.orgs import get_data
from tests.factories.teams import create_team
from tests.factories.workspace import Workspace


def where(attribute: str, operator: str, value: Any = None) -> dict[str, Any]:
    """Return a condition as a client sends it."""
    return {"attribute": attribute, "operator": operator, "value": value}


class Router:
    """Creates, reads and applies the routing rules of one organization."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.org = workspace.org

    def rule(self, *conditions: dict[str, Any], **body: Any) -> dict[str, Any]:
        """Create a rule that requires all conditions.

        In `body`, `name`, `stop`, `position`, `enabled` and `apply` are properties of the rule. The
        other items are its action.
        """
        return dict(get_data(self.send(*conditions, **body), 201))

    def send(self, *conditions: dict[str, Any], **body: Any) -> Any:
        """Send a request to create a rule, as `rule` does, and return the response."""
        properties = {
            k: body.pop(k) for k in ("name", "stop", "position", "enabled", "apply") if k in body
        }
        rule = {
            "name": "Rule",
            "conditions": {"all": list(conditions)},
            **properties,
            "action": body,
        }
        return self.org.api("admin").post("/routing-rules", json=rule)

    def rules(self) -> list[dict[str, Any]]:
        """Return all rules in their order."""
        return list(self.org.api("viewer").get("/routing-rules").json["data"])

    def read(self, rule: dict[str, Any]) -> dict[str, Any]:
        """Return a rule as the API returns it."""
        return dict(self.org.api("viewer").get(f"/routing-rules/{rule['id']}").json["data"])

    def team(self, *names: str, **body: Any) -> str:
        """Create a team of labelers with these names; labelers who do not exist are created."""
        for name in names:
            if name not in self.org.users:
                self.org.add_user(name, "labeler")
        return create_team(self.org, *names, **body)

    def route(self, *artifact_ids: UUID) -> int:
        """Route documents as after their ingestion; return how many matched a rule."""
        with self.org.transaction():
            return routing.route_ingested(list(artifact_ids))

    def apply(self) -> int:
        """Route the unassigned documents; return how many matched a rule."""
        with self.org.transaction():
            return routing.route_unassigned(db.checkpoint)

    def artifact(self, artifact_id: Any) -> dict[str, Any]:
        """Return a document as the API returns it."""
        return dict(self.org.api("viewer").get(f"/artifacts/{artifact_id}").json["data"])

    def get_assignee(self, artifact_id: Any) -> str | None:
        """Return the name of the user, or the id of the team, that a document is assigned to."""
        assignees = self.artifact(artifact_id)["assignees"]
        if not assignees:
            return None
        (assignee,) = assignees
        names = {str(user_id): name for name, user_id in self.org.users.items()}
        return assignee["team_id"] or names[assignee["user_id"]]

    def simulate(self, **body: Any) -> list[dict[str, Any]]:
        """Return the result of a simulation for each document."""
        response = self.org.api("admin").post("/routing-rules/simulate", json=body)
        return list(get_data(response)["documents"])
