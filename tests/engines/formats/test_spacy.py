"""DocBin files, read by spaCy itself."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin
from spacy.training import Corpus
from spacy.vocab import Vocab

from app.engines.formats import FORMATS, spacy_bins
from app.engines.formats.sample import SAMPLE_ROW
from tests.engines.formats.documents import FullError, FullOutput, make_row, mark, unpack, write
from tests.engines.formats.scripts import measure_peaks
from tests.factories.processes import run_script
from tests.factories.properties import examples

TEXT = "Invoice A-1, total 119.00 EUR due 5 May"


@cache
def _vocab() -> Vocab:
    """Return an empty vocabulary. One is enough, and takes 20 ms."""
    return spacy.blank("xx").vocab


def read(data: bytes, folder: Path) -> list[Doc]:
    """Return the documents of all parts, read from disk."""
    docs: list[Doc] = []
    for name, part in sorted(unpack(data).items()):
        path = folder / name
        path.write_bytes(part)
        docs += DocBin().from_disk(path).get_docs(_vocab())
    return docs


def read_row(tags: list[Any], folder: Path, text: str = TEXT, **options: Any) -> Doc:
    (doc,) = read(write("spacy", [make_row(tags, text=text)], **options), folder)
    assert doc.text == text
    return doc


def spans_of(doc: Doc) -> list[tuple[str, str]]:
    return [(span.text, span.label_) for span in doc.spans["labels"]]


def ents_of(doc: Doc) -> list[tuple[str, str]]:
    return [(span.text, span.label_) for span in doc.ents]


def test_spans_are_all_tags_and_entities_do_not_overlap(tmp_path: Path) -> None:
    tags = [mark("number", 8, 11), mark("total", 19, 29), mark("amount", 19, 25)]
    doc = read_row(tags, tmp_path)
    assert spans_of(doc) == [("A-1", "number"), ("119.00 EUR", "total"), ("119.00", "amount")]
    assert ents_of(doc) == [("A-1", "number"), ("119.00 EUR", "total")]
    assert [span.id_ for span in doc.spans["labels"]] == ["0", "1", "2"]


def test_a_span_has_whole_tokens_without_white_space(tmp_path: Path) -> None:
    doc = read_row([mark("a", 1, 3), mark("b", 11, 18), mark("c", 7, 8)], tmp_path)
    assert spans_of(doc) == [("Invoice", "a"), (", total", "b")]


@pytest.mark.parametrize(
    "tag",
    [
        mark("a", 35, 60),
        mark("a", 500, 510),
        mark("a", 5, 5),
        {"field": "a", "value": "A-1"},
    ],
)
def test_tags_outside_the_text_are_left_out(tmp_path: Path, tag: dict[str, Any]) -> None:
    doc = read_row([tag], tmp_path)
    assert spans_of(doc) == []
    assert not doc.ents


def test_ids_and_labels_are_user_data(tmp_path: Path) -> None:
    labels = {
        "number": 2**63,
        "codes": ["a", "b"],
        "total": {"amount": "1.00", "currency": "EUR"},
        "note": "\u2028",
    }
    (doc,) = read(write("spacy", [make_row([], text="", labels=labels)]), tmp_path)
    assert doc.user_data["tag_set_id"] == "set-1"
    assert doc.user_data["artifact_id"] == "doc-1"
    assert doc.user_data["schema_version"] == 2
    assert json.loads(doc.user_data["labels"]) == labels


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n\n",
        "a\r\nb\tc  d ",
        "\u202eعربي עולם\u202c",
        "😀 A e\u0301 日本語",
        "\x01\x1f\x85",
    ],
)
def test_any_text_is_kept(tmp_path: Path, text: str) -> None:
    doc = read_row([mark("a", 0, len(text))] if text.strip() else [], tmp_path, text)
    assert [ent.text for ent in doc.ents] == ([text.strip()] if text.strip() else [])


def test_half_a_surrogate_pair_becomes_a_question_mark(tmp_path: Path) -> None:
    (doc,) = read(write("spacy", [make_row([mark("a", 0, 1)], text="\ud800 b")]), tmp_path)
    assert doc.text == "? b"


def test_a_text_longer_than_a_pipeline_takes(tmp_path: Path) -> None:
    text = "word " * 250_000 + "last"
    doc = read_row([mark("a", len(text) - 4, len(text))], tmp_path, text)
    assert ents_of(doc) == [("last", "a")]


@examples(50)
@given(
    text=st.text(max_size=60),
    marks=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=6),
)
def test_any_text_and_offsets(text: str, marks: list[tuple[int, int]]) -> None:
    tags = [mark("a", start, end) for start, end in marks]
    (part,) = unpack(write("spacy", [make_row(tags, text=text)])).values()
    (doc,) = DocBin().from_bytes(part).get_docs(_vocab())
    assert doc.text == text.encode("utf-8", "replace").decode()
    for span in doc.spans["labels"]:
        assert span.text.strip() == span.text != ""


def test_spacy_trains_on_the_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spacy_bins, "_PART_ROWS", 2)
    rows = [make_row([mark("number", 8, 11)], number, text=TEXT) for number in range(5)]
    files = unpack(write("spacy", rows, language="en"))
    assert list(files) == ["part-00001.spacy", "part-00002.spacy", "part-00003.spacy"]
    for name, part in files.items():
        (tmp_path / name).write_bytes(part)
    nlp = spacy.blank("en")
    examples = list(Corpus(tmp_path)(nlp))
    assert len(examples) == 5
    ner = nlp.add_pipe("ner")
    nlp.initialize(lambda: examples)
    assert ner.labels == ("number",)
    # The tokens are those of the pipeline, so each is aligned with itself.
    for example in examples:
        assert [t.text for t in example.predicted] == [t.text for t in example.reference]
        assert example.get_aligned_ner() == [ent or "O" for ent in example.get_aligned_ner()]


def test_parts_end_after_many_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spacy_bins, "_PART_TOKENS", 10)
    rows = [make_row([], number, text="one two three four five six") for number in range(4)]
    assert len(unpack(write("spacy", rows))) == 2


def test_no_tag_sets_are_an_empty_part(tmp_path: Path) -> None:
    data = write("spacy", [])
    assert list(unpack(data)) == ["part-00001.spacy"]
    assert read(data, tmp_path) == []


@pytest.mark.parametrize(
    "language", FORMATS["spacy"].options_schema["properties"]["language"]["enum"]
)
def test_every_language_has_a_tokenizer(tmp_path: Path, language: str) -> None:
    assert ents_of(read_row([mark("number", 8, 11)], tmp_path, language=language))


def test_the_same_rows_give_the_same_bytes() -> None:
    script = """
import hashlib, io, json
from app.engines.formats import FORMATS
from app.engines.formats.sample import SAMPLE_ROW
out = io.BytesIO()
writer = FORMATS["spacy"].create_writer(out, [], {})
row = {**SAMPLE_ROW, "text": "Invoice RE-1042", "tags": [
    {"field": field, "evidence": [{"start": 8, "end": end}]} for field in "abc" for end in (10, 15)
]}
for number in range(3):
    writer.write_json(json.dumps(row).encode())
writer.close()
print(hashlib.sha256(out.getvalue()).hexdigest())
"""
    hashes = {run_script(script, env={"PYTHONHASHSEED": seed, "PATH": ""}) for seed in ("1", "2")}
    assert len(hashes) == 1


def test_memory_does_not_grow() -> None:
    script = """
import json
from app.engines.formats import FORMATS, spacy_bins
spacy_bins._PART_TOKENS = 10_000
writer = FORMATS["spacy"].create_writer(Nothing(), [], {})
for number in range(1_600):
    text = " ".join(f"{number * 100 + word:x}" for word in range(60))
    writer.write_json(json.dumps({"tag_set_id": str(number), "text": text, "tags": []}).encode())
    if number == 400:
        early = peak()
writer.close()
"""
    early, late = measure_peaks(script)
    assert late < early * 1.1
    assert late < 250_000  # KiB


def test_the_sample_is_what_is_written(tmp_path: Path) -> None:
    name, line = FORMATS["spacy"].sample.splitlines()
    sample = json.loads(line)
    tags = [mark("invoice_number", 8, 15)]
    data = write("spacy", [{**SAMPLE_ROW, "text": sample["text"], "tags": tags}])
    assert list(unpack(data)) == [name]
    (doc,) = read(data, tmp_path)
    assert doc.text == sample["text"]
    ents = [(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents]
    assert ents == [(ent["start"], ent["end"], ent["label"]) for ent in sample["ents"]]
    assert doc.user_data == sample["user_data"]


def test_what_the_output_raises_is_raised() -> None:
    writer = FORMATS["spacy"].create_writer(FullOutput(), [], {})
    writer.write_json(json.dumps(make_row([], text="a")).encode())
    with pytest.raises(FullError):
        writer.close()
