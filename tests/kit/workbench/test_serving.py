"""Pages and files of the web application, served from a small build."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.kit import workbench
from app.kit.api import documentation, http
from app.kit.settings import Settings

INDEX = """<!doctype html>
<html lang="en">
  <head>
    <title>Workbench</title>
    <link rel="icon" type="image/svg+xml" href="./workbench/icon.svg" />
    <script type="module" crossorigin src="./workbench/index-a1.js"></script>
    <link rel="modulepreload" crossorigin href="./workbench/store-b2.js">
    <link rel="stylesheet" crossorigin href="./workbench/index-c3.css">
  </head>
  <body><div id="root"></div></body>
</html>
"""


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    folder = tmp_path / "dist"
    (folder / "workbench").mkdir(parents=True)
    (folder / "index.html").write_text(INDEX)
    (folder / "workbench" / "index-a1.js").write_text("plain")
    (folder / "workbench" / "index-a1.js.br").write_text("as brotli")
    (folder / "workbench" / "index-a1.js.gz").write_text("as gzip")
    (folder / "workbench" / "icon.svg").write_text("<svg/>")
    (tmp_path / "secret.txt").write_text("secret")
    return folder


def serve(dist: Path, **settings: Any) -> FlaskClient:
    app = Flask("app", static_folder=None)
    found = Settings(**settings)
    http.init(app, found)
    documentation.init(app, [], {}, "https://example.org")
    workbench.init(app, found, dist)
    return app.test_client()


@pytest.fixture
def client(dist: Path) -> FlaskClient:
    return serve(dist)


@pytest.mark.parametrize(
    "path", ["/", "/sign-in", "/organizations", "/o/acme/", "/o/acme/documents/1?page=2"]
)
def test_pages_of_the_application_have_the_same_html(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.mimetype) == (200, "text/html")
    assert 'src="/workbench/index-a1.js"' in answer.text
    assert answer.headers["Cache-Control"] == "no-store"


def test_each_page_has_a_policy_with_a_nonce_of_its_own(client: FlaskClient) -> None:
    nonces = set()
    for _ in range(2):
        answer = client.get("/")
        policy = answer.headers["Content-Security-Policy"]
        (nonce,) = set(re.findall(r"'nonce-([^']+)'", policy))
        nonces.add(nonce)
        assert "unsafe" not in policy
        assert "require-trusted-types-for 'script'" in policy
        scripts = re.findall(r"<script[^>]*>|<link rel=\"modulepreload\"[^>]*>", answer.text)
        assert len(scripts) == 2
        assert all(f'nonce="{nonce}"' in script for script in scripts)
        assert f'<meta property="csp-nonce" nonce="{nonce}">' in answer.text
        assert workbench._NONCE_PLACEHOLDER not in answer.text
    assert len(nonces) == 2


def test_addresses_begin_with_the_path_of_the_public_url(dist: Path) -> None:
    html = serve(dist, public_url="https://example.com/labels").get("/").text
    assert 'src="/labels/workbench/index-a1.js"' in html
    assert 'href="/labels/workbench/index-c3.css"' in html
    assert '<meta name="base-path" content="/labels">' in html


@pytest.mark.parametrize("path", ["/nothing", "/o", "/api/v1/nothing", "/sign-in/more"])
def test_other_paths_are_not_found(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.json["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("accepted", "encoding", "body"),
    [
        ("gzip, deflate, br, zstd", "br", "as brotli"),
        ("gzip", "gzip", "as gzip"),
        ("br;q=0, gzip", "gzip", "as gzip"),
        ("identity", None, "plain"),
        (None, None, "plain"),
    ],
)
def test_files_are_sent_as_the_client_accepts_them(
    client: FlaskClient, accepted: str | None, encoding: str | None, body: str
) -> None:
    headers = {"Accept-Encoding": accepted} if accepted else {}
    answer = client.get("/workbench/index-a1.js", headers=headers)
    assert (answer.headers.get("Content-Encoding"), answer.text) == (encoding, body)
    assert answer.mimetype == "text/javascript"
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    again = client.get(
        "/workbench/index-a1.js", headers=headers | {"If-None-Match": answer.headers["ETag"]}
    )
    assert again.status_code == 304


def test_files_without_a_hash_in_their_name_are_cached_for_a_day(client: FlaskClient) -> None:
    answer = client.get("/workbench/icon.svg", headers={"Accept-Encoding": "br"})
    assert "Content-Encoding" not in answer.headers
    assert (answer.mimetype, answer.headers["Cache-Control"]) == (
        "image/svg+xml",
        "public, max-age=86400",
    )


@pytest.mark.parametrize("name", ["nothing.js", "../index.html", "../../secret.txt", "%2e%2e/x"])
def test_nothing_outside_of_the_folder_is_sent(client: FlaskClient, name: str) -> None:
    assert client.get(f"/workbench/{name}").status_code == 404


def test_without_a_build_pages_say_how_to_make_one(tmp_path: Path) -> None:
    answer = serve(tmp_path / "dist").get("/")
    assert answer.status_code == 404
    assert "make run" in answer.json["error"]["message"]


def test_the_setting_turns_all_of_it_off(dist: Path) -> None:
    client = serve(dist, workbench=False)
    for path in ("/", "/sign-in", "/workbench/index-a1.js"):
        answer = client.get(path)
        assert answer.json["error"]["message"] == "The record does not exist."


def test_a_new_build_is_served_without_a_restart(client: FlaskClient, dist: Path) -> None:
    assert "index-a1.js" in client.get("/").text
    (dist / "index.html").write_text(INDEX.replace("index-a1.js", "index-d4.js"))
    os.utime(dist / "index.html", (1, 1))
    assert "index-d4.js" in client.get("/").text
