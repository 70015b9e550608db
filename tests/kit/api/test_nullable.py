"""Operations whose `data` may be null."""

from typing import Any

from flask import Flask

from app.kit.api import responses
from app.kit.api.blueprint import Blueprint
from app.kit.api.fields import Schema, Str


class Thing(Schema):
    """A thing."""

    name = Str(required=True)


def _operation(answer: Any, **declared: Any) -> Any:
    made = Blueprint("things")

    @made.post("/things/next", access="user", returns=Thing, **declared)
    def next_thing() -> Any:
        """Get the next thing."""
        return answer

    return made.operations[0]


def test_nothing_is_null_and_something_is_shaped(app: Flask) -> None:
    with app.test_request_context():
        nothing = _operation(None, nullable=True)
        assert nothing.respond(nothing.handler()).json == {"data": None, "meta": {}}
        found = _operation({"name": "a", "more": 1}, nullable=True)
        assert found.respond(found.handler()).json == {"data": {"name": "a"}, "meta": {}}


def test_the_envelope_says_so_under_a_name_of_its_own() -> None:
    envelope = responses.build_envelope(Thing, many=False, nullable=True)
    assert envelope.__name__ == "ThingOrNullResponse"
    assert envelope().validate({"data": None, "meta": {}}) == {}
    plain = responses.build_envelope(Thing, many=False)
    assert plain.__name__ == "ThingResponse"
    assert plain().validate({"data": None, "meta": {}}) != {}
    assert _operation(None).nullable is False
