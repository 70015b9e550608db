"""Messages with a number: the noun and the verb are singular if the number is 1."""

import io

import pytest

from app.engines.agreement.coefficients.mark_measures import measure_marks
from app.engines.agreement.coefficients.mark_sets import build_mark_sets
from app.engines.agreement.coefficients.measuring import measure
from app.engines.agreement.coefficients.ratings import build_ratings
from app.engines.agreement.marks import Mark
from app.engines.agreement.metrics import Estimate, Level, Metric
from app.engines.documents.model import PageNotFound
from app.engines.extraction.model import NotEnoughExamples
from app.engines.fields import CompiledFields, TagErrors, ValueProblem, check_fields, normalize
from app.engines.imports import READERS
from app.engines.imports.records import START
from app.engines.plurals import format_count
from app.engines.schema_sources.model import MAX_WARNINGS, WarningCollector


def _list_texts(estimate: Estimate) -> list[str]:
    return [warning.text for warning in estimate.warnings]


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 pages"), (1, "1 page"), (2, "2 pages"), (1200, "1,200 pages")]
)
def test_a_count_has_the_noun_that_fits_it(count: int, text: str) -> None:
    assert format_count(count, "page", "pages") == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (1, "1 document was seen by only one person and is not counted."),
        (2, "2 documents were seen by only one person and are not counted."),
    ],
)
def test_documents_of_one_person(count: int, text: str) -> None:
    pairs = [("both", "a"), ("both", "b"), *((str(n), "a") for n in range(count))]
    rows: list[tuple[str, str, list[Mark]]] = [(*pair, []) for pair in pairs]
    estimate = measure_marks(build_mark_sets(rows), Metric.PERCENT, resamples=0)
    assert text in _list_texts(estimate)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (1, "1 of 3 units is not rated by all 3 raters. Only existing ratings are counted."),
        (2, "2 of 3 units are not rated by all 3 raters. Only existing ratings are counted."),
    ],
)
def test_units_without_some_ratings(count: int, text: str) -> None:
    rows = [(n, rater, n) for n in range(3) for rater in ("ab" if n < count else "abc")]
    estimate = measure(build_ratings(rows), Metric.FLEISS_KAPPA, resamples=0)
    assert text in _list_texts(estimate)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (1, "1 value was left out because it does not fit the interval level."),
        (2, "2 values were left out because they do not fit the interval level."),
    ],
)
def test_values_that_are_no_numbers(count: int, text: str) -> None:
    rows: list[tuple[int, str, object]] = [(n, rater, n) for n in range(3) for rater in "ab"]
    rows += [(3, rater, "soon") for rater in "ab"[:count]]
    ratings = build_ratings(rows, level=Level.INTERVAL)
    estimate = measure(ratings, Metric.KRIPPENDORFF_ALPHA, resamples=0)
    assert text in _list_texts(estimate)


@pytest.mark.parametrize(
    ("count", "text"), [(1, "There is 1 more warning."), (2, "There are 2 more warnings.")]
)
def test_omitted_warnings(count: int, text: str) -> None:
    collector = WarningCollector()
    for number in range(MAX_WARNINGS + count):
        collector.add(str(number), "was left out")
    assert collector.list_warnings()[-1].message == text


def test_rows_of_one_column() -> None:
    (record,) = READERS["csv"].read(io.BytesIO(b"text,lot\nx\n"), START)
    assert record.error is not None
    assert record.error[1] == "The row has 1 column, but the header line has 2."


def test_texts_of_one_character() -> None:
    (field,) = check_fields(
        [{"key": "mark", "type": "text", "constraints": {"min_length": 1, "max_length": 1}}]
    )
    for value, text in (("xx", "is longer than 1 character"), ("", "is shorter than 1 character")):
        with pytest.raises(ValueProblem) as problem:
            normalize(field, value)
        assert str(problem.value) == text
    evidence = {"page": 1, "box": None, "start": 0, "end": 2, "text": None}
    tag = {"field": "mark", "value": "x", "row": None, "evidence": [evidence]}
    with pytest.raises(TagErrors, match=r"is outside the text of 1 character$"):
        CompiledFields([field]).check_tags([tag], text_length=1, page_count=1)


def test_errors_about_one_page_and_one_example() -> None:
    assert str(PageNotFound(2, 1)) == "no page 2: the document has 1 page"
    text = "At least 5 usable examples are required; there is 1."
    assert str(NotEnoughExamples(1)) == text
