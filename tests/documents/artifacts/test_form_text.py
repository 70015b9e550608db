"""Clients can send text in a form, so that they can use forms for both files and text."""

import io
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.factories import Org
from tests.factories.errors import check_error


def _send(org: Org, headers: dict[str, str] | None = None, **form: Any) -> TestResponse:
    return org.api("labeler").request(
        "POST",
        "/artifacts",
        data=form,
        headers=headers or {},
        content_type="multipart/form-data",
    )


def test_a_text_may_come_in_a_form(org: Org) -> None:
    text = f"The rent of {org.slug} é"
    answer = _send(org, text=text, name="lease.txt", metadata='{"lot": 7}', priority="60")
    assert answer.status_code == 201
    document = answer.json["data"]
    assert (document["status"], document["metadata"]) == ("ready", {"lot": 7})
    assert (document["name"], document["priority"]) == ("lease.txt", 60)
    assert org.api().get(f"/artifacts/{document['id']}/text").json["data"]["text"] == text


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({}, "file"),
        ({"name": "a.txt"}, "file"),
        ({"text": "x"}, "name"),
        ({"text": "x", "name": "a.txt", "file": "both"}, "text"),
        ({"text": "x", "name": "a.txt", "no_such_member": "x"}, "no_such_member"),
    ],
)
def test_a_form_has_a_file_or_a_text_with_a_name(form: Any, field: str, org: Org) -> None:
    if form.get("file"):
        form = {**form, "file": (io.BytesIO(b"x"), "x.txt")}
    answer = _send(org, **form)
    check_error(answer, 422, "unprocessable", field=field)


def test_a_text_of_a_form_is_created_once_by_its_key(org: Org) -> None:
    headers = {"Idempotency-Key": "once"}
    first = _send(org, headers, text=f"of {org.slug}", name="a.txt")
    again = _send(org, headers, text=f"of {org.slug}", name="a.txt")
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json["data"]["id"] == first.json["data"]["id"]
    check_error(_send(org, headers, text=f"another of {org.slug}", name="a.txt"), 409, "conflict")
