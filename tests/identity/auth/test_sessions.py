"""A person's sessions: seen, ended one by one and all at once."""

from datetime import UTC, datetime

import jwt
from sqlalchemy import text

from app.identity.auth import links as mailed_links
from app.identity.auth import queries
from app.kit import db
from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.orgs import Api, get_data
from tests.identity.auth.conftest import Person, code


def test_sessions_tell_when_and_from_where(person: Person) -> None:
    answer = person.log_in(headers={"User-Agent": "Cello/1.0 (\u00fc)"})
    api = person.device(answer.json["data"]["access_token"])
    newest, oldest = api.get("/auth/sessions").json["data"]
    assert newest["current"] is True
    assert oldest["current"] is False
    assert newest["ip_address"] == "127.0.0.1"
    assert newest["user_agent"].startswith("Cello/1.0")
    assert newest["method"] == "password"
    issued, expires = (datetime.fromisoformat(newest[k]) for k in ("issued_at", "expires_at"))
    assert (expires - issued).total_seconds() == 8 * 3600
    assert abs((datetime.now(UTC) - issued).total_seconds()) < 60


def test_pages_of_sessions(person: Person) -> None:
    for _ in range(3):
        person.sign_in()
    first = person.api.get("/auth/sessions?page_size=3").json
    assert first["meta"]["total"] == 4
    rest = person.api.get(f"/auth/sessions?page_size=3&cursor={first['meta']['next_cursor']}").json
    ids = [session["id"] for session in first["data"] + rest["data"]]
    assert len(set(ids)) == 4
    assert [session["current"] for session in rest["data"]] == [True]


def test_sessions_by_when_they_were_issued(person: Person) -> None:
    for _ in range(2):
        person.sign_in()
    newest, middle, oldest = person.api.get("/auth/sessions").json["data"]

    def list_session_ids(**bounds: str) -> list[str]:
        listed = person.api.get("/auth/sessions", query_string=bounds).json
        assert listed["meta"]["total"] == len(listed["data"])
        return [session["id"] for session in listed["data"]]

    at = middle["issued_at"]
    assert list_session_ids(created_after=at) == [newest["id"], middle["id"]]
    assert list_session_ids(created_before=at) == [oldest["id"]]
    between = {"created_after": oldest["issued_at"], "created_before": newest["issued_at"]}
    assert list_session_ids(**between) == [middle["id"], oldest["id"]]
    assert person.api.get("/auth/sessions?created_after=now").status_code == 422


def test_a_revoked_session_is_refused_and_gone_from_the_list(person: Person) -> None:
    other = person.sign_in()
    (session,) = [s for s in other.get("/auth/sessions").json["data"] if s["current"]]
    path = f"/auth/sessions/{session['id']}"
    assert person.api.delete(path).status_code == 204
    assert code(other.get("/users/me")) == "token_expired"
    assert person.api.get("/users/me").status_code == 200
    assert len(person.api.get("/auth/sessions").json["data"]) == 1
    assert person.api.delete(path).status_code == 404


def test_somebody_elses_session_is_none(person: Person, org: Org) -> None:
    (session,) = person.api.get("/auth/sessions").json["data"]
    foreign = org.api("owner").delete(f"/auth/sessions/{session['id']}")
    absent = org.api("owner").delete(f"/auth/sessions/{uuid7()}")
    assert foreign.status_code == absent.status_code == 404
    assert foreign.data == absent.data
    assert person.api.get("/users/me").status_code == 200


def test_revoke_all_ends_every_session_and_the_current_one(person: Person) -> None:
    other_clients = [person.sign_in() for _ in range(2)]
    assert get_data(person.api.post("/auth/sessions/revoke-all")) == {"revoked": 3}
    for api in (person.api, *other_clients):
        assert code(api.get("/users/me")) == "token_expired"
    assert len(person.sign_in().get("/auth/sessions").json["data"]) == 1


def test_sessions_of_an_outdated_token_version_are_neither_listed_nor_revocable(
    person: Person,
) -> None:
    outdated_id = _session_id(person.sign_in())
    person.sql("UPDATE users SET token_version = token_version + 1 WHERE email = :e")
    api = person.sign_in()
    (listed,) = api.get("/auth/sessions").json["data"]
    assert listed["current"] is True
    assert api.delete(f"/auth/sessions/{outdated_id}").status_code == 404
    assert api.delete(f"/auth/sessions/{listed['id']}").status_code == 204


def test_revoke_all_counts_only_the_sessions_that_it_ends(person: Person) -> None:
    person.sign_in()
    person.sql("UPDATE users SET token_version = token_version + 1 WHERE email = :e")
    answer = person.sign_in().post("/auth/sessions/revoke-all")
    assert answer.json["data"] == {"revoked": 1}


def test_what_ended_long_ago_is_forgotten(person: Person) -> None:
    over, revoked = person.sign_in(), person.sign_in()
    revoked.post("/auth/logout")
    ids = [_session_id(api) for api in (person.api, over, revoked)]
    with person.app.app_context(), db.transaction() as session:
        for column, identifier in (("expires_at", ids[1]), ("revoked_at", ids[2])):
            age = f"UPDATE sessions SET {column} = now() - interval '31 days' WHERE id = :id"
            session.execute(text(age), {"id": identifier})
        link = "UPDATE mailed_tokens SET expires_at = now() WHERE email = :e"
        session.execute(text(link), {"e": person.email})
    with person.app.app_context(), db.transaction() as session:
        queries.purge_sessions(db.checkpoint)
        mailed_links.purge(db.checkpoint)
        list_statement = "SELECT id::text FROM sessions WHERE id = ANY(CAST(:ids AS uuid[]))"
        assert session.scalars(text(list_statement), {"ids": ids}).all() == ids[:1]
        links = "SELECT count(*) FROM mailed_tokens WHERE email = :e"
        assert session.scalar(text(links), {"e": person.email}) == 0
    assert person.api.get("/users/me").status_code == 200


def _session_id(api: Api) -> str:
    claims = jwt.decode(api.token, options={"verify_signature": False})
    return str(claims["sid"])
