"""A person's notifications: the list, its filters, and who sees what."""

from uuid import UUID

import pytest

from app.identity.organizations.models import Membership
from app.kit.ids import uuid7
from tests.delivery.notifications.conftest import count_unread, list_notifications, read_list
from tests.factories import Org
from tests.factories.counts import run_sql
from tests.factories.notifications import insert_notifications
from tests.factories.orgs import Api
from tests.factories.pages import read_pages

MEMBERS = {
    *("id", "organization", "kind", "title", "body", "link", "count"),
    *("read_at", "created_at", "updated_at"),
}


def _join(user_id: UUID, org: Org, role: str = "labeler") -> None:
    with org.transaction() as session:
        session.add(Membership(user_id=user_id, role=role))


def _list_titles(api: Api, query: str = "") -> list[str]:
    return [notification["title"] for notification in list_notifications(api, query)]


@pytest.fixture
def person(org: Org) -> UUID:
    return org.users["labeler"]


@pytest.fixture
def api(org: Org) -> Api:
    client = org.api("labeler")
    client.slug = None
    return client


def test_a_person_has_none_at_first(api: Api) -> None:
    assert read_list(api) == {
        "data": [],
        "meta": {"total": 0, "next_cursor": None, "prev_cursor": None, "page_size": 100},
    }
    assert count_unread(api) == 0


def test_the_newest_comes_first_with_its_organization(org: Org, api: Api, person: UUID) -> None:
    ids = insert_notifications(org, person, 3)
    response = read_list(api)
    assert [notification["id"] for notification in response["data"]] == ids[::-1]
    assert response["meta"]["total"] == 3
    assert set(response["data"][0]) == MEMBERS
    assert response["data"][0] == {
        **response["data"][0],
        "organization": {"id": str(org.id), "slug": org.slug, "name": "Test"},
        "kind": "mention",
        "title": "Note 3",
        "body": "Body",
        "link": None,
        "count": 1,
        "read_at": None,
        "created_at": "2026-05-04T10:03:00Z",
    }
    assert _list_titles(api, "sort=created_at") == ["Note 1", "Note 2", "Note 3"]


def test_the_list_spans_the_persons_organizations(
    org: Org, other_org: Org, api: Api, person: UUID
) -> None:
    _join(person, other_org)
    insert_notifications(org, person, 3, title="Here")
    insert_notifications(other_org, person, 3, title="There", start="2026-05-04T10:00:30Z")
    mixed = [f"{where} {number}" for number in (3, 2, 1) for where in ("There", "Here")]
    assert _list_titles(api) == mixed
    assert count_unread(api) == 6
    pages = read_pages(api, "/notifications?page_size=2")
    assert {page["meta"]["total"] for page in pages} == {6}
    titles = [[notification["title"] for notification in page["data"]] for page in pages]
    assert titles == [mixed[:2], mixed[2:4], mixed[4:]]
    back = f"page_size=2&cursor={pages[-1]['meta']['prev_cursor']}"
    assert _list_titles(api, back) == mixed[2:4]


def test_a_session_of_one_organization_sees_only_that_one(
    org: Org, other_org: Org, api: Api, person: UUID
) -> None:
    _join(person, other_org)
    (here,) = insert_notifications(org, person, title="Here")
    (there,) = insert_notifications(other_org, person, title="There")
    limit = "UPDATE sessions SET organization_id = :org WHERE user_id = :user_id"
    run_sql(org, limit, user_id=person)
    assert _list_titles(api) == ["Here 1"]
    assert count_unread(api) == 1
    assert api.post(f"/notifications/{there}/read").status_code == 404
    assert api.delete(f"/notifications/{there}").status_code == 404
    assert api.post("/notifications/read-all").json["data"] == {"read": 1}
    rows = run_sql(other_org, "SELECT read_at FROM notifications WHERE user_id = :u", u=person)
    assert [row.read_at for row in rows] == [None]
    assert api.post(f"/notifications/{here}/read").status_code == 200


def test_the_header_of_an_organization_changes_nothing(
    org: Org, other_org: Org, person: UUID
) -> None:
    insert_notifications(org, person)
    for slug in (org.slug, other_org.slug, "no-such-organization"):
        assert _list_titles(org.api("labeler", slug=slug)) == ["Note 1"]


def test_nobody_sees_those_of_others(org: Org, other_org: Org, api: Api, person: UUID) -> None:
    (mine,) = insert_notifications(org, person)
    (owner_notification_id,) = insert_notifications(org, org.users["owner"])
    (foreign,) = insert_notifications(other_org, other_org.users["owner"])
    assert [notification["id"] for notification in list_notifications(api)] == [mine]
    absent = str(uuid7())
    for method, path in (("POST", "/notifications/{}/read"), ("DELETE", "/notifications/{}")):
        none = api.request(method, path.format(absent))
        assert none.status_code == 404
        for other in (owner_notification_id, foreign):
            answer = api.request(method, path.format(other))
            assert answer.status_code == 404
            assert answer.json["error"] == none.json["error"]
    assert api.post("/notifications/read-all").json["data"] == {"read": 1}
    assert count_unread(org.api("owner")) == 1


def test_what_is_only_mailed_is_not_listed_or_counted(org: Org, api: Api, person: UUID) -> None:
    (hidden,) = insert_notifications(org, person, in_app=False)
    assert read_list(api)["meta"]["total"] == 0
    assert count_unread(api) == 0
    assert api.post(f"/notifications/{hidden}/read").status_code == 404
    assert api.delete(f"/notifications/{hidden}").status_code == 404


def test_whoever_left_or_whose_organization_closed_sees_nothing(
    org: Org, other_org: Org, api: Api, person: UUID
) -> None:
    _join(person, other_org)
    (there,) = insert_notifications(other_org, person, title="There")
    insert_notifications(org, person, title="Here")
    path = f"/organizations/{other_org.slug}/members/{person}"
    assert other_org.api("owner").delete(path).status_code == 204
    assert _list_titles(api) == ["Here 1"]
    assert api.post(f"/notifications/{there}/read").status_code == 404
    run_sql(org, "UPDATE organizations SET status = 'closed' WHERE id = :org")
    assert _list_titles(api) == []
    assert count_unread(api) == 0


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("kind=mention", ["New 2", "New 1"]),
        ("kind=export_ready", ["Old 2", "Old 1"]),
        ("kind=plan_limit", []),
        ("unread=true", ["New 2", "New 1"]),
        ("unread=false", ["Old 2", "Old 1"]),
        ("kind=mention&unread=false", []),
        ("kind=export_ready&unread=false", ["Old 2", "Old 1"]),
        ("created_after=2026-05-04T11:01:00Z", ["New 2", "New 1"]),
        ("created_after=2026-05-04T11:01:00.000001Z", ["New 2"]),
        ("created_before=2026-05-04T11:02:00Z", ["New 1", "Old 2", "Old 1"]),
        (
            "created_after=2026-05-04T09:02:00Z&created_before=2026-05-04T11:02:00Z",
            ["New 1", "Old 2"],
        ),
        ("created_after=2026-05-04T09:02:00Z&unread=false", ["Old 2"]),
        ("created_after=2026-05-04T09:02:00Z&kind=mention&unread=true", ["New 2", "New 1"]),
    ],
)
def test_filters(org: Org, api: Api, person: UUID, query: str, titles: list[str]) -> None:
    old = {"kind": "export_ready", "read": True, "start": "2026-05-04T09:00:00Z"}
    insert_notifications(org, person, 2, title="Old", **old)  # type: ignore[arg-type]
    insert_notifications(org, person, 2, title="New", start="2026-05-04T11:00:00Z")
    insert_notifications(org, org.users["owner"], 2)
    response = read_list(api, query)
    assert [notification["title"] for notification in response["data"]] == titles
    assert response["meta"]["total"] == len(titles)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("kind=gossip", "kind"),
        ("unread=maybe", "unread"),
        ("created_after=yesterday", "created_after"),
        ("page_size=0", "page_size"),
        ("sort=title", "sort"),
        ("cursor=x", "cursor"),
        ("colour=red", "colour"),
    ],
)
def test_a_wrong_query_names_its_parameter(api: Api, query: str, field: str) -> None:
    answer = api.get(f"/notifications?{query}")
    assert (answer.status_code, answer.json["error"]["field"]) == (422, field)


def test_a_cursor_belongs_to_one_person(org: Org, api: Api, person: UUID) -> None:
    insert_notifications(org, person, 3)
    cursor = read_list(api, "page_size=1")["meta"]["next_cursor"]
    assert _list_titles(api, f"page_size=1&cursor={cursor}") == ["Note 2"]
    answer = org.api("owner").get(f"/notifications?page_size=1&cursor={cursor}")
    assert (answer.status_code, answer.json["error"]["field"]) == (422, "cursor")


def test_what_arrives_while_one_pages_is_not_in_the_way(org: Org, api: Api, person: UUID) -> None:
    insert_notifications(org, person, 4)
    first = read_list(api, "page_size=2")
    insert_notifications(org, person, 2, title="Late", start="2026-05-04T12:00:00Z")
    assert api.post(f"/notifications/{first['data'][0]['id']}/read").status_code == 200
    second = read_list(api, f"page_size=2&cursor={first['meta']['next_cursor']}")
    assert [notification["title"] for notification in second["data"]] == ["Note 2", "Note 1"]
    assert second["meta"]["total"] == 4
    assert second["meta"]["next_cursor"] is None


def test_api_keys_and_strangers_have_none(org: Org) -> None:
    for path in ("/notifications", "/notifications/unread-count"):
        assert org.key("admin").get(path).status_code == 403
        assert org.anonymous().get(path).status_code == 401


def test_a_hundred_lists_fold_nothing_of_others(org: Org, api: Api, person: UUID) -> None:
    """Every hundredth list looks for unfolded counts, of which a person has none of their own."""
    insert_notifications(org, person)
    for _ in range(101):
        assert read_list(api, "page_size=1")["meta"]["total"] == 1


def test_nothing_of_an_organization_is_seen_before_joining_it(
    org: Org, other_org: Org, api: Api, person: UUID
) -> None:
    (foreign,) = insert_notifications(
        other_org, person, title="Former", start="2026-05-03T10:00:00Z"
    )
    insert_notifications(org, person)
    assert _list_titles(api) == ["Note 1"]
    assert count_unread(api) == 1
    assert api.post(f"/notifications/{foreign}/read").status_code == 404
    assert api.delete(f"/notifications/{foreign}").status_code == 404
    assert api.post("/notifications/read-all").json["data"] == {"read": 1}
    _join(person, other_org)
    assert _list_titles(api) == ["Note 1", "Former 1"]
    assert count_unread(api) == 1
