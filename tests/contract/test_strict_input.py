"""Input that parsers read in different ways is refused; nothing of it is stored changed."""

import gzip
import io
import zlib
from typing import Any

import orjson
import pytest
from werkzeug.test import TestResponse

from tests.factories import Org
from tests.factories.orgs import Api

JSON = {"Content-Type": "application/json"}
GZIP = {"Content-Encoding": "gzip"}
MAX_SAFE_INT = 2**53 - 1
FILE_PART = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
BOMB_BYTES = 64 * 1024 * 1024


def _post(api: Api, path: str, raw: bytes, **headers: str) -> TestResponse:
    return api.request("POST", path, data=raw, headers={**JSON, **headers})


def _document(org: Org, metadata: str) -> TestResponse:
    raw = f'{{"name": "a.txt", "text": "of {org.slug}", "metadata": {metadata}}}'
    return _post(org.api("labeler"), "/artifacts", raw.encode())


def _error(answer: TestResponse) -> tuple[int, str, str | None]:
    error = answer.json["error"]
    return answer.status_code, error["code"], error.get("field")


@pytest.mark.parametrize(
    ("raw", "member"),
    [
        ('{"name": "a", "text": "b", "name": "c"}', "name"),
        ('{"name": "a", "n\\u0061me": "c", "text": "b"}', "name"),
        ('{"name": "a", "text": "b", "metadata": {"lot": 1, "lot": 1}}', "lot"),
        ('{"name": "a", "text": "b", "no_such_member": [{"": 1, "": 2}]}', "body"),
    ],
)
def test_a_member_given_twice_is_refused(raw: str, member: str, org: Org) -> None:
    answer = _post(org.api("labeler"), "/artifacts", raw.encode())
    assert _error(answer) == (400, "validation_error", member)


def test_a_member_given_twice_is_refused_in_a_form_too(org: Org) -> None:
    data = {"file": (io.BytesIO(b"text"), "a.txt"), "metadata": '{"a": 1, "a": 2}'}
    answer = org.api("labeler").request("POST", "/artifacts", data=data)
    assert _error(answer) == (400, "validation_error", "metadata")


def test_a_parameter_given_twice_is_refused_unless_it_is_a_list(org: Org) -> None:
    api = org.api("viewer")
    for name, value in ("page_size", "1"), ("sort", "name"), ("created_after", "2026-01-01"):
        answer = api.get(f"/artifacts?{name}={value}&{name}={value}")
        assert _error(answer) == (422, "unprocessable", name)
        assert answer.json["error"]["message"] == "This field or parameter is sent more than once."
    assert api.get("/artifacts?status=ready&status=done").status_code == 200
    answer = api.get("/artifacts?nosuch=1&nosuch=2")
    assert answer.json["error"]["message"] == "Unknown field."


@pytest.mark.parametrize(
    "number", ["9007199254740992", "-9007199254740992", "18446744073709551615", "1e300"]
)
def test_metadata_holds_no_number_that_a_parser_may_change(number: str, org: Org) -> None:
    answer = _document(org, f'{{"lot": {number}}}')
    assert _error(answer) == (400, "validation_error", "metadata.lot")


@pytest.mark.parametrize("number", ["18446744073709551616", "-9223372036854775809", "1" * 300])
def test_a_number_that_would_lose_digits_is_refused_everywhere(number: str, org: Org) -> None:
    answer = _document(org, f'{{"lot": {number}}}')
    assert _error(answer) == (400, "validation_error", "body")
    form = {"file": (io.BytesIO(b"text"), "a.txt"), "metadata": f'{{"a": {number}}}'}
    answer = org.api("labeler").request("POST", "/artifacts", data=form)
    assert _error(answer) == (400, "validation_error", "metadata")


@pytest.mark.parametrize("number", [MAX_SAFE_INT, -MAX_SAFE_INT, 0.1, 1.5e10, 0])
def test_numbers_come_back_as_they_went_in(number: float, org: Org) -> None:
    answer = _document(org, f'{{"lot": {number!r}}}')
    assert answer.status_code == 201
    assert orjson.loads(answer.data)["data"]["metadata"] == {"lot": number}


def test_json_that_is_nested_too_deeply_is_refused(org: Org) -> None:
    raw = b'{"name": ' + b"[" * 1000 + b"]" * 1000 + b"}"
    assert _error(_post(org.api("labeler"), "/artifacts", raw))[:2] == (422, "unprocessable")


@pytest.mark.parametrize(
    "size", ["1_0", "+1", "%201", "1%20", "1.0", "\u0663", "\uff11", "0x1", "", "9" * 5000]
)
def test_a_number_of_a_query_string_is_plain_digits(size: str, org: Org) -> None:
    answer = org.api().get(f"/artifacts?page_size={size}")
    assert _error(answer) == (422, "unprocessable", "page_size")


@pytest.mark.parametrize(
    "day", ["20240101ab", "2024010199", "2024-01-1x", "2024-W01-1", "\u0662024-01-01", "2024-13-01"]
)
def test_a_date_is_written_in_one_way(day: str, org: Org) -> None:
    answer = org.api("labeler").get("/users/me/activity", query_string={"from": day})
    assert _error(answer) == (422, "unprocessable", "from")


def test_a_number_of_a_form_is_plain_digits(org: Org) -> None:
    data = {"file": (io.BytesIO(b"text"), "a.txt"), "priority": "5_0"}
    answer = org.api("labeler").request("POST", "/artifacts", data=data)
    assert _error(answer) == (422, "unprocessable", "priority")


@pytest.mark.parametrize(
    "query", ["q=%ff", "q=a%c3", "q=%ed%a0%80", "gold=true&q=a+%ff%26", "%ff=1"]
)
def test_a_query_string_is_utf_8(query: str, org: Org) -> None:
    status, code, field = _error(org.api().get(f"/artifacts?{query}"))
    assert (status, code) == (422, "unprocessable")
    assert field is not None
    assert field == "q" or query.startswith("%")


@pytest.mark.parametrize(
    "name", ["\u200b", "\u200b \u2060", "\u3164", "\u2800", "\u0301", "\U000e0041"]
)
def test_a_name_has_something_to_see(name: str, org: Org) -> None:
    answer = org.api("admin").post("/teams", {"name": name})
    assert _error(answer) == (422, "unprocessable", "name")
    answer = org.api("labeler").post("/artifacts", {"name": name, "text": "x"})
    assert _error(answer) == (422, "unprocessable", "name")


@pytest.mark.parametrize("name", ["👩‍👩‍👧", "a\u200bb", "ก็", "(c)", "€"])
def test_a_name_may_hold_invisible_characters_beside_others(name: str, org: Org) -> None:
    assert org.api("admin").post("/teams", {"name": name}).status_code == 201


def _gzipped_post(api: Api, path: str, body: Any, **headers: str) -> TestResponse:
    return _post(api, path, gzip.compress(orjson.dumps(body)), **GZIP, **headers)


def test_a_gzip_body_is_read(org: Org) -> None:
    answer = _gzipped_post(org.api("admin"), "/teams", {"name": "Zipped"})
    assert (answer.status_code, answer.json["data"]["name"]) == (201, "Zipped")
    raw = gzip.compress(b'{"name": "By the older name"}')
    answer = _post(org.api("admin"), "/teams", raw, **{"Content-Encoding": "X-GZip"})
    assert (answer.status_code, answer.json["data"]["name"]) == (201, "By the older name")


def test_a_large_gzip_body_is_read_whole(org: Org) -> None:
    text = "".join(f"{org.slug} {number}\n" for number in range(30_000))
    body = {"name": "large.txt", "text": text}
    answer = _gzipped_post(org.api("labeler"), "/artifacts", body)
    assert (answer.status_code, answer.json["data"]["text_length"]) == (201, len(text))


def test_an_upload_may_be_gzipped(org: Org) -> None:
    raw = gzip.compress(FILE_PART + b"of " + org.slug.encode() + b"\r\n--x--\r\n")
    headers = {"Content-Type": "multipart/form-data; boundary=x", **GZIP}
    answer = org.api("labeler").request("POST", "/artifacts", data=raw, headers=headers)
    assert answer.status_code == 201
    path = f"/artifacts/{answer.json['data']['id']}/content"
    assert org.api("viewer").get(path).data == b"of " + org.slug.encode()


def _build_bomb(head: bytes = b"", tail: bytes = b"") -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    parts = [packer.compress(head)]
    parts += [packer.compress(b" " * 1024 * 1024) for _ in range(BOMB_BYTES // 1024 // 1024)]
    return b"".join([*parts, packer.compress(tail), packer.flush()])


def test_a_bomb_is_refused_before_it_is_unpacked(org: Org) -> None:
    answer = _post(org.api("admin"), "/teams", _build_bomb(), **GZIP)
    assert _error(answer)[:2] == (413, "payload_too_large")


@pytest.mark.parametrize("before", [True, False])
def test_a_bomb_around_a_form_is_refused(*, before: bool, org: Org) -> None:
    part = FILE_PART + b"hi\r\n--x--\r\n"
    raw = _build_bomb(tail=part) if before else _build_bomb(head=part)
    headers = {"Content-Type": "multipart/form-data; boundary=x", **GZIP}
    answer = org.api("labeler").request("POST", "/artifacts", data=raw, headers=headers)
    assert _error(answer)[:2] == (413, "payload_too_large")


@pytest.mark.parametrize(
    "raw",
    [
        b'{"name": "A team"}',
        b"",
        gzip.compress(b'{"name": "Cut"}')[:-3],
        b"\x1f\x8b\x08junk",
        gzip.compress(b'{"name": "A') + gzip.compress(b' team"}'),
        gzip.compress(b'{"name": "A"}') + b"more",
    ],
    # Compressed bodies carry the time, and names of tests must not change.
    ids=["plain", "empty", "cut", "junk", "two members", "more behind"],
)
def test_a_body_that_is_no_gzip_is_refused(raw: bytes, org: Org) -> None:
    answer = _post(org.api("admin"), "/teams", raw, **GZIP)
    assert _error(answer) == (422, "unprocessable", "body")


@pytest.mark.parametrize("coding", ["br", "deflate", "zstd", "gzip, gzip", "x"])
@pytest.mark.parametrize("path", ["/teams", "/artifacts"])
def test_another_coding_is_not_supported(coding: str, path: str, org: Org) -> None:
    answer = _post(org.api("admin"), path, b"{}", **{"Content-Encoding": coding})
    assert _error(answer) == (415, "unsupported_media_type", "Content-Encoding")
    assert answer.headers["Accept-Encoding"] == "gzip"


def test_a_coding_of_no_body_is_no_matter(org: Org) -> None:
    headers = {"Content-Encoding": "gzip"}
    assert org.api("viewer").get("/teams", headers=headers).status_code == 200
