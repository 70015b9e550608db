"""Create, read, update and delete connectors; their secrets are never shown."""

from typing import Any

import pytest
from sqlalchemy import text

from app.intake.connectors.service import crawling
from app.kit import container, db, tenancy
from tests.factories import Org
from tests.intake.connectors.conftest import Folder

STORE = {"bucket": "papers", "access_key_id": "AK", "secret_access_key": "top-secret"}
GOOGLE = {"bucket": "papers", "service_account": "{}"}
SERVER = {"host": "h", "username": "u", "host_key": f"SHA256:{'A' * 43}"}
AZURE = {"account": "papers", "container": "scans", "account_key": "c2VjcmV0"}


def _refuse(folder: Folder, status: int = 400, **members: Any) -> dict[str, Any]:
    body = {"name": "Inbox", "type": "local", "settings": {}, **members}
    answer = folder.admin.post("/connectors", json=body)
    assert answer.status_code == status, answer.json
    return dict(answer.json["error"])


def test_a_new_connector(folder: Folder) -> None:
    made = folder.connect(name="Papers", type="s3", settings=STORE, include=["*.pdf", "*.pdf"])
    assert made == folder.read(made)
    assert made | {"id": "", "created_at": "", "updated_at": ""} == {
        "id": "",
        "name": "Papers",
        "type": "s3",
        "settings": {"bucket": "papers", "access_key_id": "AK"},
        "stored_secrets": ["secret_access_key"],
        "schema_id": None,
        "enabled": True,
        "schedule": None,
        "next_crawl_at": None,
        "include": ["*.pdf"],
        "exclude": [],
        "last_crawl": None,
        "open_alert_count": 0,
        "cursor": None,
        "created_by": str(folder.org.users["admin"]),
        "created_at": "",
        "updated_at": "",
        "revision": 1,
    }


def test_secrets_are_encrypted_and_in_no_log(folder: Folder) -> None:
    made = folder.connect(type="s3", settings=STORE)
    path = f"/connectors/{made['id']}"
    changed = {**STORE, "secret_access_key": "other-secret"}
    assert folder.admin.patch(path, json={"settings": changed}).status_code == 200
    (row,) = folder.sql("SELECT * FROM connectors")
    assert "-secret" not in str(row)
    assert b"other-secret" in container.keyring().decrypt(row.credentials)
    log = folder.admin.get(f"/organizations/{folder.org.slug}/audit-log").text
    assert "connectors" in log
    assert "-secret" not in log


def test_secrets_are_kept_if_none_is_sent(folder: Folder) -> None:
    made = folder.connect(type="s3", settings=STORE)
    path = f"/connectors/{made['id']}"
    answer = folder.admin.patch(path, json={"settings": {"bucket": "other", "access_key_id": "AK"}})
    assert answer.json["data"]["settings"]["bucket"] == "other"
    (row,) = folder.sql("SELECT credentials FROM connectors")
    assert b"top-secret" in container.keyring().decrypt(row.credentials)


@pytest.mark.parametrize(
    ("type_name", "settings", "change", "field"),
    [
        ("s3", STORE, {"endpoint_url": "https://evil.example"}, "secret_access_key"),
        ("gcs", GOOGLE, {"endpoint_url": "https://evil.example"}, "service_account"),
        ("azure", AZURE, {"endpoint_url": "https://evil.example"}, "account_key"),
        ("azure", AZURE, {"account": "evil"}, "account_key"),
        (
            "http",
            {"url": "https://a.example/", "username": "u", "password": "p"},
            {"url": "https://evil.example/"},
            "password",
        ),
        (
            "ftp",
            {"host": "a.example", "username": "u", "password": "p"},
            {"host": "evil.example"},
            "password",
        ),
        (
            "imap",
            {"host": "a.example", "username": "u", "password": "p"},
            {"tls": False},
            "password",
        ),
    ],
)
def test_secrets_are_not_sent_to_another_host(
    folder: Folder, type_name: str, settings: dict[str, Any], change: dict[str, Any], field: str
) -> None:
    made = folder.connect(type=type_name, settings=settings)
    assert field in made["stored_secrets"]
    path = f"/connectors/{made['id']}"
    moved = {**made["settings"], **change}
    answer = folder.admin.patch(path, json={"settings": moved})
    assert (answer.status_code, answer.json["error"]["field"]) == (400, f"settings.{field}")
    assert folder.read(made) == made
    sent = {**moved, field: "again"}
    assert folder.admin.patch(path, json={"settings": sent}).status_code == 200


def test_queries_of_urls_are_never_shown(folder: Folder) -> None:
    signed = "https://files.example/a.pdf?sig=hush"
    index = folder.connect(type="http", settings={"url": signed})
    assert (index["settings"], index["stored_secrets"]) == (
        {"url": "https://files.example/a.pdf"},
        ["url"],
    )
    urls = folder.connect(type="http", settings={"urls": [signed, "https://files.example/b.pdf"]})
    assert (urls["settings"], urls["stored_secrets"]) == (
        {"urls": ["https://files.example/a.pdf", "https://files.example/b.pdf"]},
        ["urls"],
    )
    paths = ["/connectors", f"/connectors/{index['id']}", f"/connectors/{urls['id']}"]
    answers = [folder.org.api("viewer").get(path) for path in paths]
    for answer in [*answers, folder.admin.get(f"/organizations/{folder.org.slug}/audit-log")]:
        assert answer.status_code == 200
        assert "files.example/a.pdf" in answer.text
        assert "hush" not in answer.text


_A, _B, _C = (f"https://files.example/{name}" for name in ("a.pdf?sig=1", "a.pdf?sig=2", "c.pdf"))
_A_SHOWN = "https://files.example/a.pdf"


@pytest.mark.parametrize(
    ("stored", "sent", "kept"),
    [
        ([_A, _C], [_A_SHOWN, _C], [_A, _C]),
        ([_A, _C], [_C, _A_SHOWN], [_C, _A]),
        ([_A, _C], [_C], [_C]),
        ([_A, _B, _C], [_A_SHOWN, _A_SHOWN], [_A, _B]),
        ([_A, _B, _C], [_B, _C], [_B, _C]),
        ([_A, _B, _C], [_C, _A_SHOWN], None),
        ([_A, _A_SHOWN], [_A_SHOWN, _A_SHOWN], [_A, _A_SHOWN]),
        ([_A, _A_SHOWN], [_A_SHOWN], [_A_SHOWN]),
        ([_A], [_A_SHOWN, _A_SHOWN], None),
        ([_A], [_A_SHOWN.replace("files", "other")], [_A_SHOWN.replace("files", "other")]),
    ],
)
def test_queries_of_urls_are_kept_for_the_same_urls_only(
    folder: Folder, stored: list[str], sent: list[str], kept: list[str] | None
) -> None:
    made = folder.connect(type="http", settings={"urls": stored})
    answer = folder.admin.patch(f"/connectors/{made['id']}", json={"settings": {"urls": sent}})
    (row,) = folder.sql("SELECT settings FROM connectors WHERE id = :id", id=made["id"])
    if kept is None:
        assert answer.status_code == 400
        assert answer.json["error"]["field"] == "settings.urls"
        assert row.settings == {"urls": stored}
    else:
        assert answer.status_code == 200, answer.json
        assert row.settings == {"urls": kept}


@pytest.mark.parametrize(
    ("type_name", "settings", "field"),
    [
        ("s3", {}, "settings.bucket"),
        ("s3", {**STORE, "bucket": 7}, "settings.bucket"),
        ("s3", {**STORE, "bucket": "x"}, "settings.bucket"),
        ("s3", {**STORE, "secret_access_key": "a\nb"}, "settings.secret_access_key"),
        ("s3", {**STORE, "other": 1}, "settings.other"),
        ("s3", {**STORE, "endpoint_url": "ftp://x"}, "settings.endpoint_url"),
        ("http", {}, "settings"),
        ("http", {"url": "https://x/", "urls": ["https://x/a"]}, "settings"),
        ("http", {"url": "https://x/", "username": "u"}, "settings.password"),
        ("http", {"urls": ["https://x/a", 7]}, "settings.urls.1"),
        ("http", {"url": "https://x/", "username": "u", "password": "p", "token": "t"}, "settings"),
        ("sftp", {"host": "h", "username": "u", "password": "p"}, "settings.host_key"),
        ("sftp", {**SERVER, "private_key": "ssh-ed25519 AAAAC3Nza"}, "settings.private_key"),
        ("ftp", {"host": "h", "username": "u", "password": "p", "port": 0}, "settings.port"),
        ("imap", {"host": "h/x", "username": "u", "password": "p"}, "settings.host"),
        ("imap", {"host": "h", "username": "u\n", "password": "p"}, "settings.username"),
        ("local", {"path": "a\x01"}, "settings.path"),
    ],
)
def test_invalid_settings(
    folder: Folder, type_name: str, settings: dict[str, Any], field: str
) -> None:
    error = _refuse(folder, type=type_name, settings=settings)
    assert (error["code"], error["field"]) == ("validation_error", field)
    assert "a\nb" not in error["message"]
    assert folder.count("connectors") == 0


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("type", "gopher"),
        ("schema_id", "01a20a6d-1129-7bac-b373-0505bd522bbc"),
        ("schedule", "every day"),
        ("schedule", "* * * * *"),
        ("schedule", "0,3 * * * *"),
        ("schedule", "0 0 30 2 *"),
        ("schedule", "0 0 * * * *"),
        ("include", ["//"]),
    ],
)
def test_invalid_members(folder: Folder, member: str, value: Any) -> None:
    error = _refuse(folder, **{member: value})
    assert (error["code"], error["field"]) == ("validation_error", member)


def test_only_encrypted_protocols_by_default(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = container.settings()
    monkeypatch.setattr(type(settings), "connector_allow_unencrypted", False)
    host = {"host": "a.example", "username": "u", "password": "p"}
    for type_name, new_settings, field in (
        ("http", {"url": "http://a.example/"}, "url"),
        ("http", {"urls": ["https://a.example/", "http://a.example/"]}, "urls"),
        ("s3", {**STORE, "endpoint_url": "http://a.example"}, "endpoint_url"),
        ("ftp", {**host, "tls": False}, "tls"),
    ):
        error = _refuse(folder, type=type_name, settings=new_settings)
        assert error["field"] == f"settings.{field}"


def test_types_have_schemas_of_their_settings(folder: Folder) -> None:
    answer = folder.api.get("/connectors/types")
    types = {connector_type["type"]: connector_type for connector_type in answer.json["data"]}
    assert types.keys() >= {"local", "s3", "http", "sftp", "ftp", "imap"}
    password = types["ftp"]["settings_schema"]["properties"]["password"]
    assert password["writeOnly"] is True


def test_local_folders_need_a_root(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(container.settings()), "connector_local_root", "")
    answer = folder.api.get("/connectors/types")
    assert "local" not in {connector_type["type"] for connector_type in answer.json["data"]}
    assert _refuse(folder)["field"] == "type"


def test_an_update_changes_what_is_sent(folder: Folder) -> None:
    made = folder.connect()
    path = f"/connectors/{made['id']}"
    answer = folder.admin.patch(path, json={"name": "Other", "enabled": False, "revision": 1})
    changed = answer.json["data"]
    assert (changed["name"], changed["enabled"], changed["revision"]) == ("Other", False, 2)
    stale = folder.admin.patch(path, json={"name": "Third", "revision": 1})
    assert (stale.status_code, stale.json["error"]["code"]) == (409, "stale_precondition")


def test_lists_are_filtered(folder: Folder) -> None:
    local_connector = folder.connect(enabled=False)
    s3_connector = folder.connect(type="s3", settings=STORE)

    def list_ids(**query: Any) -> list[str]:
        answer = folder.api.get("/connectors", query_string=query)
        return [connector["id"] for connector in answer.json["data"]]

    assert list_ids() == [s3_connector["id"], local_connector["id"]]
    assert list_ids(type="s3") == [s3_connector["id"]]
    assert list_ids(enabled="false") == [local_connector["id"]]


def test_an_organization_sees_only_its_own_folder(folder: Folder, other_org: Org) -> None:
    folder.write("mine.txt", "words")
    body = {"name": "Theirs", "type": "local", "settings": {"path": f"../{folder.org.id}"}}
    api = other_org.api("admin")
    foreign_id = api.post("/connectors", json=body).json["data"]["id"]
    tested = api.post(f"/connectors/{foreign_id}/test").json["data"]
    assert (tested["ok"], tested["entries"]) == (False, [])
    assert api.get(f"/connectors/{foreign_id}/browse").status_code == 409


def test_an_update_does_not_wait_for_the_end_of_a_crawl(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crawl locks its job and then the connector, so an update must not lock the job."""
    monkeypatch.setattr(crawling, "FETCH_BATCH_SIZE", 1)
    for name in ("a", "b"):
        folder.write(f"{name}.txt", f"words {name}")
    connector = folder.connect()
    job = folder.request(connector)
    folder.run(crawling.run_crawl, job["id"], checkpoints=3)
    assert folder.read(connector)["cursor"] == "a.txt"
    everything = tenancy.across_organizations(reason="a test is a crawl")
    with folder.org.app.app_context(), everything, db.engine().connect() as crawl:
        lock = text("SELECT 1 FROM ingestion_jobs WHERE id = :id FOR UPDATE")
        assert crawl.execute(lock, {"id": job["id"]}).scalar() == 1
        folder.update(connector, settings={"path": "other"})
