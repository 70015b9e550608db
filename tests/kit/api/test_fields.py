"""The values that fields of bodies and query strings accept."""

from datetime import UTC, datetime
from typing import Any

import pytest
from marshmallow import ValidationError

from app.kit.api.fields import Int, QueryBool, UtcDateTime


@pytest.mark.parametrize(("given", "taken"), [(3, 3), (3.0, 3), (-0.0, 0)])
def test_a_number_without_a_fraction_is_an_integer_as_to_json_schema(
    given: float, taken: int
) -> None:
    found = Int().deserialize(given)
    assert (found, type(found)) == (taken, int)


@pytest.mark.parametrize("given", [1.5, True, "1", 1e300, float("inf"), float("nan"), None])
def test_nothing_else_is_one(given: Any) -> None:
    with pytest.raises(ValidationError):
        Int().deserialize(given)


@pytest.mark.parametrize("given", [True, "true", "True"])
def test_a_filter_is_true_as_text_and_as_json(given: Any) -> None:
    assert QueryBool().deserialize(given) is True


@pytest.mark.parametrize("given", [False, "false", "False"])
def test_a_filter_is_false_as_text_and_as_json(given: Any) -> None:
    assert QueryBool().deserialize(given) is False


@pytest.mark.parametrize("given", [1, 0, 1.0, "1", "yes", "", None, []])
def test_what_only_looks_like_a_boolean_is_none(given: Any) -> None:
    with pytest.raises(ValidationError):
        QueryBool().deserialize(given)


@pytest.mark.parametrize(
    "given",
    [
        "2026-01-31T09:30:00Z",
        "2026-01-31t09:30:00z",
        "2026-01-31T09:30:00z",
        "2026-01-31t10:30:00+01:00",
        "2026-01-31t09:30:00.000000z",
    ],
)
def test_a_time_has_either_case_of_its_letters_as_rfc_3339_does(given: str) -> None:
    assert UtcDateTime().deserialize(given) == datetime(2026, 1, 31, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize("given", ["2026-01-31t09:30:00", "2026-01-31t09:30:00q", "tz", "z", ""])
def test_no_other_text_is_a_time(given: str) -> None:
    with pytest.raises(ValidationError):
        UtcDateTime().deserialize(given)
