"""Import of CSV: columns, delimiters, and rows that cannot be read."""

import pytest

from tests.intake.conftest import Imports, counts


def test_columns_become_text_members_and_metadata(imports: Imports) -> None:
    data = 'name,text,external_id,lot,empty\r\na.txt,"Line one\nline ""two"", ü",e-1,7,\r\n'
    job = imports.make(data.encode(), "list.csv")
    assert (job["format"], job["counts"]) == ("csv", counts(found=1, created=1))
    (item,) = imports.items(job["id"])
    assert item["uri"] == "list.csv#1"
    artifact = imports.artifact(item["artifact_id"])
    assert (artifact["name"], artifact["external_id"]) == ("a.txt", "e-1")
    assert artifact["metadata"] == {"lot": "7"}
    text = imports.api.get(f"/artifacts/{artifact['id']}/text").json["data"]["text"]
    assert text == 'Line one\nline "two", ü'


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_that_of_the_first_line(imports: Imports, delimiter: str) -> None:
    rows = [["text", "lot"], ["One", "1"], ["Two", "2"]]
    data = "\n".join(delimiter.join(row) for row in rows)
    job = imports.make(b"\xef\xbb\xbf" + data.encode(), "list.txt")
    assert (job["format"], job["counts"]["created"]) == ("csv", 2)
    lots = [imports.artifact(i["artifact_id"])["metadata"] for i in imports.items(job["id"])]
    assert lots == [{"lot": "1"}, {"lot": "2"}]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_unicode_text_of_excel(imports: Imports, encoding: str) -> None:
    text = '\ufefftext\tlot\r\n"Größe 😀\nund Gewicht"\t1\r\nĊ\t2\r\n'
    job = imports.make(text.encode(encoding), "list.txt")
    assert (job["format"], job["counts"]) == ("csv", counts(found=2, created=2))
    ids = [item["artifact_id"] for item in imports.items(job["id"])]
    texts = [imports.api.get(f"/artifacts/{id_}/text").json["data"]["text"] for id_ in ids]
    assert texts == ["Größe 😀\nund Gewicht", "Ċ"]
    assert [imports.artifact(id_)["metadata"]["lot"] for id_ in ids] == ["1", "2"]


def test_a_bad_row_fails_alone(imports: Imports) -> None:
    data = b'text,lot\nOne,1\nTwo\n\xff\xfe,3\nFour,4,4\n"Five"x,5\n,6\n\nSeven,7\n'
    job = imports.make(data, "list.csv")
    assert job["counts"] == counts(found=7, created=2, failed=5)
    messages = [item["error"]["message"] for item in imports.items(job["id"], status="failed")]
    reasons = ["has 1 column,", "not valid UTF-8", "has 3 columns", "Malformed CSV", "no text"]
    for message, reason in zip(messages, reasons, strict=True):
        assert reason in message


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"lot,name\n1,2\n", "the column `text` is missing"),
        (b"text,lot,lot\n1,2,3\n", "a unique, non-empty name"),
        (b"text,,lot\n1,2,3\n", "a unique, non-empty name"),
        (b"\xff,text\n1,2\n", "not valid UTF-8"),
        (b"text," + b"x" * 100_000 + b"\n1,2\n", "names of the columns"),
    ],
)
def test_a_file_with_a_wrong_header_fails(imports: Imports, data: bytes, reason: str) -> None:
    job = imports.make(data, "list.csv", format="csv")
    assert (job["status"], job["counts"]) == ("failed", counts())
    assert job["error"]["code"] == "validation_error"
    assert reason in job["error"]["message"]
    assert imports.items(job["id"]) == []


def test_a_quote_that_never_ends_fails_alone(imports: Imports) -> None:
    job = imports.make(b'text,lot\nOne,1\n"Two,2\nThree,3\n', "list.csv")
    assert job["counts"] == counts(found=2, created=1, failed=1)
