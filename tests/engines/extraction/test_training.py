"""Training, prediction, storage and evaluation on generated receipts."""

import json
import os
import zipfile
from dataclasses import replace
from io import BytesIO

import pytest

from app.engines.extraction import examples as example_selection
from app.engines.extraction.contents import check_content
from app.engines.extraction.evaluation import compare_tags, evaluate_folds
from app.engines.extraction.examples import select_examples
from app.engines.extraction.loading import read_model
from app.engines.extraction.model import InvalidModel, NotEnoughExamples
from app.engines.extraction.reports import is_not_worse
from app.engines.extraction.training import train_model
from tests.engines.extraction.documents import check_normal_form
from tests.factories.processes import run_script
from tests.factories.receipts import build_examples, build_fields, build_tag

SEEN, UNSEEN = range(36), range(36, 48)
FIELDS = build_fields()


@pytest.fixture(scope="module")
def model():
    return train_model(build_examples(60, layouts=SEEN, seed=1), FIELDS, "v1")


def _compare(model, examples, fields=FIELDS):
    return compare_tags(examples, [model.predict(one.document) for one in examples], fields)


def test_sixty_labels_are_enough_for_vendors_seen_and_unseen(model):
    seen = _compare(model, build_examples(30, layouts=SEEN, seed=2))
    unseen = _compare(model, build_examples(30, layouts=UNSEEN, seed=3))
    assert seen.overall.f1 >= 0.85
    assert unseen.overall.f1 >= 0.80
    assert model.report.expected_calibration_error <= 0.12


def test_tags_are_in_normal_form_with_evidence_of_the_document(model):
    for example in build_examples(5, layouts=UNSEEN, seed=4):
        tags = model.predict(example.document)
        check_normal_form(tags, example.document, FIELDS)
        assert all(tag["evidence"] and 0 < tag["confidence"] <= 1 for tag in tags)


def test_a_stored_model_predicts_the_same_and_contains_no_objects(model):
    content = model.to_bytes()
    loaded = read_model(content)
    (example,) = build_examples(1, seed=5)
    assert loaded.predict(example.document) == model.predict(example.document)
    assert loaded.version == model.version
    assert loaded.report == model.report
    assert loaded.to_bytes() == content
    with zipfile.ZipFile(BytesIO(content)) as archive:
        assert {name.rpartition(".")[2] for name in archive.namelist()} == {"npy", "json"}
        assert all(b"'O'" not in archive.read(name)[:128] for name in archive.namelist())


@pytest.mark.parametrize("damage", [b"", b"PK\x05\x06" + b"\0" * 18, b"\x80\x04."])
def test_other_content_is_refused(damage):
    for read in (read_model, check_content):
        with pytest.raises(InvalidModel):
            read(damage)


def test_a_model_of_another_feature_version_is_refused(model):
    buffer = BytesIO()
    with zipfile.ZipFile(BytesIO(model.to_bytes())) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "model.json":
                content = json.dumps({**json.loads(content), "feature_version": 0}).encode()
            new.writestr(name, content)
    for read in (read_model, check_content):
        with pytest.raises(InvalidModel):
            read(buffer.getvalue())


def test_a_model_of_other_library_versions_is_read(model, monkeypatch):
    content = model.to_bytes()
    monkeypatch.setattr("app.engines.extraction.examples.get_version", lambda name: f"{name} 99")
    learned_from = build_examples(60, layouts=SEEN, seed=1)
    other = example_selection.hash_inputs(learned_from, FIELDS, "v1")
    assert other != model.version
    check_content(content)
    assert read_model(content).version == model.version


def test_the_version_depends_on_accepted_revisions_and_the_schema_version(model):
    examples = build_examples(60, layouts=SEEN, seed=1)

    def version(examples=examples, schema_version="v1"):
        return example_selection.hash_inputs(examples, FIELDS, schema_version)

    assert version() == version(list(reversed(examples))) == model.version
    assert version(schema_version="v2") != version()
    assert version([replace(examples[0], revision=2), *examples[1:]]) != version()


_SCRIPT = """
import hashlib
from app.engines.extraction.training import train_model
from tests.factories.receipts import build_examples, build_fields
model = train_model(build_examples(16, seed=6), build_fields(), "v")
tags = [model.predict(one.document) for one in build_examples(3, seed=7)]
print(model.version, hashlib.sha256(model.to_bytes()).hexdigest(), tags)
"""


def test_the_same_examples_give_the_same_bytes_in_another_process():
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    outputs = {run_script(_SCRIPT, env={**environment, "PYTHONHASHSEED": seed}) for seed in "12"}
    assert len(outputs) == 1


def test_fewer_than_five_usable_examples_are_refused():
    examples = build_examples(4, seed=1)
    foreign = [build_tag("company", "Nowhere To Be Found Inc")]
    absent = replace(build_examples(1, seed=9)[0], tags=foreign)
    with pytest.raises(NotEnoughExamples) as failure:
        train_model([*examples, absent], FIELDS, "v")
    assert failure.value.usable_count == 4


def test_typed_fields_are_learned_from_canonical_values():
    fields = build_fields(typed=True)
    model = train_model(build_examples(30, seed=1, typed=True), fields, "v")
    report = _compare(model, build_examples(20, seed=2, typed=True), fields)
    assert report.fields["date"].f1 >= 0.85
    assert report.fields["total"].f1 >= 0.85


def test_evaluation_predicts_each_document_without_having_seen_it():
    report = evaluate_folds(build_examples(18, seed=1), FIELDS, 2)
    assert report.overall.support == 18 * 4
    assert sum(row[2] for row in report.document_counts) == 18 * 4
    assert report.overall.f1 >= 0.7
    assert report.folds == 2


def test_the_newest_examples_count_and_one_labeler_gives_at_most_half(monkeypatch):
    monkeypatch.setattr(example_selection, "MIN_LABELER_LIMIT", 5)
    examples = [
        replace(one, id=f"{n:03}", labeler_id="a" if n < 20 else "b", accepted_at=f"{n:03}")
        for n, one in enumerate(build_examples(26, seed=1))
    ]
    selected = select_examples(examples)
    assert [one.labeler_id for one in selected].count("a") == 6
    assert [one.id for one in selected][:6] == ["014", "015", "016", "017", "018", "019"]
    alone = [replace(one, labeler_id="a") for one in examples]
    assert len(select_examples(alone)) == 26


def test_a_second_labeler_does_not_take_the_examples_of_the_first_away():
    examples = [
        replace(one, id=f"{n:03}", labeler_id="b" if n == 25 else "a", accepted_at=f"{n:03}")
        for n, one in enumerate(build_examples(26, seed=1))
    ]
    assert len(select_examples(examples)) == 26


def test_the_oldest_examples_are_left_out_if_there_are_too_many_words(monkeypatch):
    (one,) = build_examples(1, seed=1)
    examples = [replace(one, id=str(n), accepted_at=str(n)) for n in range(9)]
    size = len(one.document.words)
    fields = [{**FIELDS[0], "key": f"field_{n}"} for n in range(20)]
    for limit, selected_fields, count in ((7, (), 7), (1, (), 5), (14, fields, 7), (99, (), 9)):
        monkeypatch.setattr(example_selection, "MAX_TRAINING_WORDS", limit * size)
        selected = select_examples(examples, selected_fields)
        assert [example.id for example in selected] == [str(n) for n in range(9 - count, 9)]


def test_a_model_is_better_unless_it_is_worse_by_more_than_noise(model):
    report = model.report
    counts = report.document_counts
    worse = replace(report, document_counts=tuple((max(a - 2, 0), b, c) for a, b, c in counts))
    first = (counts[0][0] - 1, *counts[0][1:])
    slightly_worse = replace(report, document_counts=(first, *counts[1:]))
    assert is_not_worse(report, report)
    assert is_not_worse(report, worse)
    assert is_not_worse(slightly_worse, report)
    assert not is_not_worse(worse, report)
