"""What stands in the files: the same as is built of the records one by one, whatever they hold."""

import csv
import io
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from sqlalchemy import select

from app.delivery.exports.queries import rows
from app.documents.artifacts.models.content import ArtifactText
from app.documents.artifacts.models.documents import Artifact
from app.engines.formats import FORMATS
from app.engines.formats.labels import LabelBuilder
from app.kit import db, tenancy
from app.kit.ids import uuid7
from app.schemas.artifact_schemas.models import ArtifactSchema, SchemaVersion
from app.workflow.tag_sets.models import TagSet, TagSetRevision
from tests.factories.labels import make_field, make_labeled, make_schema
from tests.factories.properties import examples

FIELDS = [
    make_field("number", "text"),
    make_field("total", "money"),
    make_field("note", "text", multiple=True),
    make_field(
        "items", "table", columns=[make_field("what", "text"), make_field("price", "number")]
    ),
    make_field("paid", "boolean"),
]
HOSTILE = [
    "line\nbreak",
    "\r\n",
    "quotes \" and ' and \\",
    "\\.",
    "\x01\x02\x03\x1b\x7f",
    "\u2028\u2029\u0085",
    "a, b; c\td|e",
    '=HYPERLINK("http://x")',
    "@SUM(1)",
    "-1+1",
    "\u202eright to left\u202c",
    "日本語 عربي 🧾 e\u0301",
    "\ufeff",
    "NULL",
    "",
    " ",
    '{"a": 1}',
    "%s %(schema_id)s %%",
]
EVERYTHING = {"tags": "all", "evidence": True, "text": True, "history": True}


def tag(field: str, value: Any, row: int | None = None, **members: Any) -> dict[str, Any]:
    evidence = [{"page": 1, "box": [0.1, 0.2, 0.3, 0.4], "start": 0, "end": 3, "text": "abc"}]
    return {
        "field": field,
        "value": value,
        "row": row,
        "confidence": 0.75,
        "source": "human",
        "evidence": evidence,
        **members,
    }


def format_time(value: datetime | None) -> str | None:
    return None if value is None else value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def build_expected_rows(exports: Any, include: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows, each built of its records: the slow way, in Python."""
    with exports.org.app.app_context(), tenancy.organization(exports.org.id):
        sets = db.session().execute(
            select(TagSet, Artifact, ArtifactSchema, SchemaVersion)
            .join(Artifact, Artifact.id == TagSet.artifact_id)
            .join(ArtifactSchema, ArtifactSchema.id == TagSet.schema_id)
            .join(SchemaVersion, SchemaVersion.id == TagSet.schema_version_id)
            .order_by(TagSet.created_at, TagSet.id)
        )
        return [orjson.loads(orjson.dumps(_build_row(*records, include))) for records in sets]


def _build_row(
    tag_set: TagSet,
    artifact: Artifact,
    schema: ArtifactSchema,
    version: SchemaVersion,
    include: dict[str, Any],
) -> dict[str, Any]:
    about = ("id", "name", "external_id", "media_type", "sha256", "page_count", "language")
    about += ("gold", "archived")
    row: dict[str, Any] = {
        "tag_set_id": tag_set.id,
        "status": tag_set.status,
        "source": tag_set.source,
        "revision": tag_set.revision,
        "artifact": {
            **{name: getattr(artifact, name) for name in about},
            "metadata": artifact.meta,
        },
        "schema": {
            "id": schema.id,
            "name": schema.name,
            "version_id": version.id,
            "version": version.number,
        },
        "labeler_id": tag_set.labeler_id,
        "reviewer_id": tag_set.reviewer_id,
        "submitted_at": format_time(tag_set.submitted_at),
        "decided_at": format_time(tag_set.decided_at),
        "labels": LabelBuilder(version.fields).build(tag_set.tags),
    }
    if include["evidence"]:
        row["tags"] = tag_set.tags
    if include["text"]:
        statement = select(ArtifactText.text).where(ArtifactText.artifact_id == artifact.id)
        row["text"] = db.session().execute(statement).scalar()
    if include["history"]:
        saved = select(TagSetRevision).where(TagSetRevision.tag_set_id == tag_set.id)
        ordered = db.session().execute(saved.order_by(TagSetRevision.number)).scalars()
        row["history"] = [
            {
                "number": revision.number,
                "kind": revision.kind,
                "note": revision.note,
                "author_id": revision.author_id,
                "created_at": format_time(revision.created_at),
                "tags": revision.tags,
            }
            for revision in ordered
        ]
    return row


def _export_table(exports: Any, **options: Any) -> list[dict[str, str]]:
    """Run an export in the format csv, and return its lines."""
    text = exports.export_file("csv", options=options).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_hostile_values_come_through_unharmed(exports: Any) -> None:
    schema_id, _ = make_schema(exports.org, FIELDS, name='Rechnung "\n\x01\x02')
    for text in HOSTILE:
        tags = [
            tag("number", text, evidence=[{"page": None, "box": None, "text": text}]),
            tag("note", text),
            tag("note", "second"),
            tag("items.what", text, 3),
            tag("items.price", 1e300, 3),
            tag("items.price", -0.1, 0),
            tag("total", {"amount": "1.50", "currency": "EUR"}),
            tag("paid", False),
        ]
        about = {"name": text or "x", "external_id": text, "meta": {"k " + text: text, "n": 1.5}}
        id_ = UUID(exports.label(schema_id, tags, status="submitted", text=text, artifact=about))
        for number in (1, 2):
            exports.add(TagSetRevision(tag_set_id=id_, number=number, tags=tags, note=text))
    exports.label(schema_id, [], artifact={"page_count": None, "language": None})
    assert exports.export_rows(include=EVERYTHING) == build_expected_rows(exports, EVERYTHING)


JSON_TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12
)
VALUES = st.one_of(
    JSON_TEXT,
    st.booleans(),
    st.none(),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.lists(JSON_TEXT, max_size=2),
    st.dictionaries(JSON_TEXT, JSON_TEXT, max_size=2),
)
TAGS = st.lists(
    st.one_of(
        st.builds(tag, st.sampled_from(["number", "total", "note", "paid"]), VALUES),
        st.builds(tag, st.sampled_from(["items.what", "items.price"]), VALUES, st.integers(0, 5)),
    ),
    max_size=8,
)


@examples(
    15,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(batch=st.lists(TAGS, min_size=5, max_size=15))
def test_copy_and_python_agree_on_any_tags(exports: Any, batch: list[list[Any]]) -> None:
    schema_id, _ = make_schema(exports.org, FIELDS)
    artifact_id = exports.workspace.artifact(schema_id)
    for tags in batch:
        exports.label(schema_id, tags, artifact_id=artifact_id)
    lines: list[bytes] = []
    include = {"tags": "all", "evidence": True, "text": False, "history": False}
    with (
        exports.org.app.app_context(),
        tenancy.organization(exports.org.id),
        rows.open_snapshot({"schema_id": str(schema_id)}, include) as snapshot,
    ):
        snapshot.copy_rows(lambda row, *, is_last: lines.append(row) if is_last else None)
    expected = [
        row
        for row in build_expected_rows(exports, include)
        if row["schema"]["id"] == str(schema_id)
    ]
    assert [orjson.loads(line) for line in lines] == expected
    assert snapshot.total == len(batch)


def test_work_done_over_the_api(exports: Any) -> None:
    submitted = exports.workspace.submitted()
    accepted = exports.workspace.submitted()
    note = {"note": "well read"}
    answer = exports.api.post(f"/tag-sets/{accepted['id']}/accept", note)
    assert answer.status_code == 200, answer.json
    (row,) = exports.export_rows(include={"history": True, "text": True})
    assert row["tag_set_id"] == accepted["id"]
    assert row["status"] == "accepted"
    assert row["labels"] == {"number": "A-1"}
    assert row["labeler_id"] == str(exports.org.users["labeler"])
    assert row["reviewer_id"] == str(exports.org.users["reviewer"])
    assert [tag_["field"] for tag_ in row["tags"]] == ["number"]
    assert row["history"][-1]["note"] == "well read"
    assert row["text"] == "x" * 1000
    decided = answer.json["data"]["decided_at"]
    assert datetime.fromisoformat(row["decided_at"]) == datetime.fromisoformat(decided)
    assert exports.export_tag_set_ids(filter={"statuses": ["submitted"]}) == [submitted["id"]]


def test_the_source_and_flags_of_a_document_are_in_every_format(exports: Any) -> None:
    schema_id, _ = make_schema(exports.org, FIELDS)
    exports.label(schema_id, [], source="import", artifact={"gold": True})
    exports.label(schema_id, [], source="merge", artifact={"archived": True})
    expected = [("import", True, False), ("merge", False, True)]
    about = [(row["source"], row["artifact"]) for row in exports.export_rows()]
    assert [(source, doc["gold"], doc["archived"]) for source, doc in about] == expected
    names = ("source", "artifact.gold", "artifact.archived")
    rows = [tuple(line[name] for name in names) for line in _export_table(exports)]
    assert rows == [("import", "true", "false"), ("merge", "false", "true")]


def test_each_part_only_where_it_was_asked_for(exports: Any) -> None:
    make_labeled(exports.org, 1, revisions=True)
    parts = {"tags", "text", "history"}
    (bare,) = exports.export_rows(include={"evidence": False})
    assert not parts & set(bare)
    assert bare["labels"]["field_2"] == {"amount": "1.50", "currency": "EUR"}
    for name, member in (("evidence", "tags"), ("text", "text"), ("history", "history")):
        (row,) = exports.export_rows(include={"evidence": False, name: True})
        assert parts & set(row) == {member}
        assert {key: value for key, value in row.items() if key != member} == bare
    assert row["history"][0]["tags"][0]["value"] == "Value 1"


def test_an_organization_without_labels(exports: Any) -> None:
    export = exports.make()
    assert (export["row_count"], export["size_bytes"]) == (0, 0)
    assert exports.download_file(export["id"]) == b""
    (header,) = exports.export_file("csv").decode().splitlines()
    assert header.startswith("tag_set_id,status,source,revision,artifact.id")


def test_labels_are_read_by_the_version_they_were_made_for(exports: Any) -> None:
    schema_id, _ = make_schema(exports.org, [make_field("note", "text")])
    single = exports.label(schema_id, [tag("note", "one")])
    version = uuid7()
    fields = [make_field("note", "text", multiple=True), make_field("new", "number")]
    second = {"schema_id": schema_id, "number": 2, "review_policy": {}}
    exports.add(SchemaVersion(id=version, fields=fields, **second))
    several = exports.label(
        schema_id, [tag("new", 7), tag("note", "two")], schema_version_id=version
    )
    labels = {row["tag_set_id"]: row["labels"] for row in exports.export_rows()}
    assert labels == {single: {"note": "one"}, several: {"note": ["two"], "new": 7}}
    assert list(labels[several]) == ["note", "new"]
    table = _export_table(exports)
    assert [(line["labels.note"], line["labels.new"]) for line in table] == [
        ("one", ""),
        ("two", "7"),
    ]
    assert [line["schema.version"] for line in table] == ["1", "2"]


def test_values_from_before_a_field_was_a_table_are_kept(exports: Any) -> None:
    schema_id, _ = make_schema(exports.org, [make_field("items", "text")])
    exports.label(schema_id, [tag("items", "Paper and ink")])
    table = make_field("items", "table", columns=[make_field("what", "text")])
    version = SchemaVersion(
        id=uuid7(), fields=[table], schema_id=schema_id, number=2, review_policy={}
    )
    exports.add(version)
    exports.label(schema_id, [tag("items.what", "Ink", 0)], schema_version_id=version.id)
    lines = _export_table(exports, rows="explode")
    assert [(line["labels.items"], line["labels.items.what"]) for line in lines] == [
        ("Paper and ink", ""),
        ("", "Ink"),
    ]


def test_csv_holds_what_the_writer_makes_of_the_rows(exports: Any) -> None:
    schema_id, _ = make_schema(exports.org, FIELDS)
    for text in HOSTILE:
        tags = [tag("number", text), tag("note", text), tag("items.what", text, 0)]
        exports.label(schema_id, tags, artifact={"name": text or "x"})
    options = {"rows": "explode", "delimiter": ";", "bom": True}
    export = exports.make("csv", options=options)
    out = io.BytesIO()
    writer = FORMATS["csv"].writer(out, FIELDS, export["options"])
    for row in build_expected_rows(exports, {"evidence": False, "text": False, "history": False}):
        writer.write_json(orjson.dumps(row))
    writer.close()
    assert exports.download_file(export["id"]) == out.getvalue()
    text = out.getvalue().decode("utf-8-sig")
    lines = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=";"))
    numbers = [line["labels.number"] for line in lines]
    assert '\'=HYPERLINK("http://x")' in numbers
    assert export["row_count"] == len(lines) == len(HOSTILE)
    assert [line["labels.number"] for line in _export_table(exports, raw=True)] == HOSTILE


def test_nothing_of_another_organization(exports: Any, other_exports: Any) -> None:
    make_labeled(other_exports.org, 3, revisions=True)
    make_labeled(exports.org, 2, revisions=True)
    rows = exports.export_rows(include=EVERYTHING)
    assert len(rows) == 2
    assert rows == build_expected_rows(exports, EVERYTHING)
