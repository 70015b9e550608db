"""Start, submit and review tag sets, and publish versions of their schemas, with the API."""

from typing import Any

from tests.factories import drain
from tests.factories.workspace import Workspace


def get_data(response: Any) -> dict[str, Any]:
    """Return the data of a successful response."""
    assert response.status_code < 300, response.json
    return dict(response.json["data"])


def get_tag_set(workspace: Workspace, tag_set: dict[str, Any]) -> dict[str, Any]:
    """Return a tag set as reviewers read it now."""
    return get_data(workspace.org.api("reviewer").get(f"/tag-sets/{tag_set['id']}"))


def start_draft(
    workspace: Workspace, artifact_id: Any, *, source: str | None = None, by: str = "labeler"
) -> Any:
    """Create a draft that is empty, or a copy of `source`; return the response.

    `source` is the id of a tag set, or `prediction`.
    """
    body = {} if source is None else {"from": source}
    return workspace.org.api(by).post(f"/artifacts/{artifact_id}/tag-sets", json=body)


def submit(
    workspace: Workspace, tag_set: dict[str, Any], *, by: str = "labeler", **options: Any
) -> Any:
    """Submit a draft, and return the response. `options` are those of the request."""
    return workspace.org.api(by).post(f"/tag-sets/{tag_set['id']}/submit", **options)


def submit_tags(
    workspace: Workspace,
    artifact_id: Any,
    tags: list[Any],
    *,
    by: str = "labeler",
    from_model: bool = False,
) -> dict[str, Any]:
    """Create a draft, save its tags and submit it; return the tag set.

    With `from_model`, the tags are marked as a model's before the draft is submitted.
    """
    draft = get_data(workspace.save(workspace.draft(artifact_id, by=by), tags, by=by))
    if from_model:
        workspace.mark_tags_as_predicted(draft)
    return get_data(submit(workspace, draft, by=by))


def accept(
    workspace: Workspace, tag_set: dict[str, Any], *, by: str = "reviewer", **body: Any
) -> Any:
    """Accept a tag set, and return the response."""
    return workspace.org.api(by).post(f"/tag-sets/{tag_set['id']}/accept", json=body)


def reject(
    workspace: Workspace, tag_set: dict[str, Any], *, by: str = "reviewer", **body: Any
) -> Any:
    """Reject a tag set, by default to its labeler, and return the response."""
    body = {"reason": "Look again.", **body}
    return workspace.org.api(by).post(f"/tag-sets/{tag_set['id']}/reject", json=body)


def reopen(
    workspace: Workspace, tag_set: dict[str, Any], *, by: str = "reviewer", **body: Any
) -> Any:
    """Reopen a tag set, by default for review, and return the response."""
    body = {"reason": "Look again.", **body}
    return workspace.org.api(by).post(f"/tag-sets/{tag_set['id']}/reopen", json=body)


def set_review_claim(workspace: Workspace, tag_set_id: str, by: str, *, minutes: int) -> None:
    """Let a user have claimed a review for `minutes`; if they are negative, it has expired."""
    workspace.sql(
        "UPDATE tag_sets SET claim_user_id = :user, claim_expires_at = now() + :minutes * interval"
        " '1 minute' WHERE id = :id",
        user=workspace.org.users[by],
        minutes=minutes,
        id=tag_set_id,
    )


def publish(workspace: Workspace, schema_id: Any, *, run_jobs: bool = True, **policy: Any) -> None:
    """Publish a version with another review policy, and run the jobs that follow."""
    api, path = workspace.org.api("admin"), f"/schemas/{schema_id}"
    body = {"review_policy": policy, "revision": get_data(api.get(path))["revision"]}
    assert api.patch(path, json=body).status_code == 200
    response = api.post(f"{path}/publish", json={})
    assert response.status_code == 201, response.json
    if run_jobs:
        drain(workspace.org.app)


def set_role(workspace: Workspace, name: str, role: str | None) -> None:
    """Give a member another role, or remove the member if `role` is None."""
    path = f"/organizations/{workspace.org.slug}/members/{workspace.org.users[name]}"
    owner = workspace.org.api("owner")
    answer = owner.patch(path, json={"role": role}) if role else owner.delete(path)
    assert answer.status_code == (200 if role else 204), answer.json
