"""In training, the values that were accepted for a document do not help to find them in it."""

from app.engines.extraction import sequences
from app.engines.extraction.examples import list_targets, prepare_examples
from app.engines.extraction.model import Example
from app.engines.extraction.proposing import collect_candidates
from app.engines.extraction.training import train_model
from app.engines.fields import check_fields
from tests.engines.extraction.documents import build_document
from tests.factories.receipts import build_tag

FIELDS = check_fields([{"key": "names", "type": "text", "multiple": True}])
_SYLLABLES = ("bal", "dor", "fen", "gim", "kut", "los", "mer", "nip", "rus", "tov", "wex", "zad")


def _build_example(number, lines, values):
    tags = [build_tag("names", value) for value in values]
    return Example(f"{number:03}", 1, build_document(lines), tags)


def _list_training_values(examples, excluded_document_number):
    prepared_examples = prepare_examples(examples, FIELDS)
    targets = list_targets(prepared_examples, FIELDS)
    alignment_lists = [
        [sequences.align_values(example, target) for target in targets]
        for example in prepared_examples
    ]
    _, candidates = collect_candidates(
        prepared_examples[excluded_document_number].prepared_document,
        targets[0],
        sequences.build_training_index(prepared_examples, targets, alignment_lists),
        excluded_document_number=excluded_document_number,
    )
    return {candidate.text for candidate in candidates if candidate.kind == "training_value"}


def test_a_value_that_a_document_has_twice_is_not_a_candidate_from_it():
    lines = ["goods of Kontor Nord Ltd came today", "pay what Kontor Nord Ltd asks for"]
    own = _build_example(0, lines, ["Kontor Nord Ltd"] * 2)
    other = _build_example(1, ["goods of Lager West Ltd came today"], ["Lager West Ltd"])
    assert _list_training_values([own, other], 0) == set()
    other = _build_example(1, lines, ["Kontor Nord Ltd"])
    assert _list_training_values([own, other], 0) == {"Kontor Nord Ltd"}


def test_no_spelling_is_learned_from_the_document_that_it_is_judged_by():
    examples = []
    for number in range(24):
        first, second = _SYLLABLES[number % 12], _SYLLABLES[(number * 5 + number // 12) % 12]
        names = [f"{first}{second} {place}".title() for place in ("north", "south")]
        lines = ["Deliveries", "", *(f"Supplier: {name}" for name in names), "", "Thank you"]
        values = [name.upper() for name in names] if number % 4 == 0 else names
        examples.append(_build_example(number, lines, values))
    model = train_model(examples, FIELDS, "v")
    names_report = model.report.fields["names"]
    assert (names_report.correct, names_report.correct_letters) == (36, 48)
    assert model.field_parameters["names"].renderer.mode == "plain"
