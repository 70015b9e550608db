"""URL-encoded forms as bodies: limited in size, in UTF-8, and without repeated names."""

from typing import Any

import pytest
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st
from marshmallow import EXCLUDE

from app import endpoints
from app.kit.api import requests
from app.kit.api.blueprint import Blueprint
from app.kit.api.documentation import list_operations
from app.kit.api.fields import Schema, Str
from app.kit.errors import ApiError

_FORM = "application/x-www-form-urlencoded"
_LIMIT = 1000


class Letter(Schema):
    """A form with one required field."""

    text = Str(required=True, max_length=600)
    note = Str()


_app = Flask(__name__)


def _read(data: Any, content_type: str | None = _FORM, **environ: Any) -> dict[str, Any]:
    with _app.test_request_context(
        "/", method="POST", data=data, content_type=content_type, environ_overrides=environ
    ):
        body, raw = requests.read_form_body(Letter(), _LIMIT)
        assert raw == data
        return body


def _refused(data: Any, **kwargs: Any) -> ApiError:
    with pytest.raises(ApiError) as caught:
        _read(data, **kwargs)
    return caught.value


class Open(Schema):
    """A form from another service, which may add fields."""

    class Meta:
        unknown = EXCLUDE

    text = Str(required=True)


def test_members_that_are_left_out_may_be_repeated() -> None:
    def read(data: bytes) -> dict[str, Any]:
        with _app.test_request_context("/", method="POST", data=data, content_type=_FORM):
            return requests.read_form_body(Open(), _LIMIT)[0]

    assert read(b"a=1&text=x&a=2") == {"text": "x"}
    with pytest.raises(ApiError) as caught:
        read(b"text=x&a=1&text=x")
    assert (caught.value.status, caught.value.field) == (422, "text")


def test_members_are_text() -> None:
    assert _read(b"text=a%2Bb+c%C3%A9&note=") == {"text": "a+b c\u00e9", "note": ""}
    assert _read(b"text=1", f"{_FORM}; charset=UTF-8") == {"text": "1"}


@pytest.mark.parametrize("content_type", ["application/json", "multipart/form-data", "text/plain"])
def test_another_media_type_is_refused(content_type: str) -> None:
    error = _refused(b"text=a", content_type=content_type)
    assert error.code == "unsupported_media_type"
    assert error.details == {"supported": [_FORM]}


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (b"", "text"),
        (b"note=x", "text"),
        (b"text=a&text=b", "text"),
        (b"text=a&other=b", "other"),
        (b"text=%00", "text"),
        (b"text=" + b"a" * 601, "text"),
        (b"text=%FF", "body"),
        (b"text=\xc3\xa9", "body"),
        (b"text=%ED%A0%80", "body"),
        (b"&".join(b"%d=" % n for n in range(51)), "body"),
    ],
)
def test_what_does_not_fit_is_named(data: bytes, field: str) -> None:
    error = _refused(data)
    assert (error.code, error.field) == ("unprocessable", field)


def test_a_large_form_is_stopped_while_it_is_read() -> None:
    data = b"text=" + b"a" * _LIMIT
    assert _refused(data).code == "payload_too_large"
    chunked = {"wsgi.input_terminated": True, "CONTENT_LENGTH": ""}
    assert _refused(data, **chunked).code == "payload_too_large"


@given(st.binary(max_size=_LIMIT))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    status, text = 200, ""
    try:
        text = _read(data)["text"]
    except ApiError as error:
        status = error.status
    assert status == 422 or (status == 200 and isinstance(text, str))


@pytest.mark.parametrize("members", [{"is_form": True}, {"body": Letter, "upload": Letter}])
def test_a_form_is_the_only_kind_of_body(members: dict[str, Any]) -> None:
    declare = Blueprint("letters").post(
        "/letters", **{"access": "public", "is_form": True, **members}
    )
    with pytest.raises(TypeError, match="a form requires a body"):
        declare(_read)


def test_forms_are_described(app: Flask) -> None:
    paths = app.test_client().get("/openapi.json").json["paths"]
    forms = [op for op in list_operations(endpoints.BLUEPRINTS) if op.is_form]
    assert forms
    for op in forms:
        body = paths[f"/api/v1{op.path}"][op.method.lower()]["requestBody"]
        assert list(body["content"]) == [_FORM]
        assert body["required"] is True
