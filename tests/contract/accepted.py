"""Count the requests that match the description and are nevertheless refused with 422.

`python -m tests.contract.accepted` starts the servers, sends such requests to every operation and
reports the share that was refused, and the operations and fields with most refusals. By default,
few requests are sent; ACCEPTED_EXAMPLES sets their number per operation.
"""

import base64
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.core import NotSet
from werkzeug.test import TestResponse

from app.kit.api.declarations import Operation
from tests.contract.fuzzing import (
    IGNORED_HEADERS,
    Request,
    draw_ids,
    fill_path,
    generate_examples,
)
from tests.contract.groups import get_caller
from tests.contract.seeds import Seeds

UNPROCESSABLE = 422
VALID_VALUES = {
    "SAMLResponse": base64.b64encode(
        b'<Response xmlns="urn:oasis:names:tc:SAML:2.0:protocol" ID="_1" Version="2.0"/>'
    ).decode()
}
"""Valid values for properties whose values a generator cannot create."""


@dataclass
class Tally:
    """The number of requests sent and refused, and the refused fields by operation."""

    sent: int = 0
    refused: int = 0
    fields: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def count(self, operation: str, answer: TestResponse) -> None:
        """Count a response."""
        self.sent += 1
        if answer.status_code == UNPROCESSABLE:
            error = answer.json["error"]
            self.refused += 1
            self.fields[operation, error.get("field") or "", error["message"]] += 1

    @property
    def share(self) -> float:
        """Return the share of requests that were refused."""
        return self.refused / max(1, self.sent)

    def report(self, worst: int = 60) -> str:
        """Return the figures as text."""
        lines = [f"{self.refused} of {self.sent} refused with 422: {self.share:.2%}"]
        for (operation, name, message), count in self.fields.most_common(worst):
            lines.append(f"{count:6} {operation}: {name}: {message[:90]}")
        return "\n".join(lines)


def send_valid_requests(
    op: Operation, description: Any, seeds: Seeds, tally: Tally, *, examples: int
) -> None:
    """Send requests of `op` that match the description, and count the responses."""
    api = get_caller(op, seeds)
    operation = description[f"/api/v1{op.path}"][op.method]

    @generate_examples(examples)
    @given(data=st.data())
    def send(data: st.DataObject) -> None:
        ids = draw_ids(op.path, seeds, data)
        # Headers are drawn although some are ignored: otherwise Hypothesis sends a request without
        # other parts only once.
        case = data.draw(operation.as_strategy(GenerationMode.POSITIVE, path_parameters=ids))
        query = dict(case.query or {})
        query.pop("cursor", None)  # It is signed, so no generator can create one.
        headers = {name: str(value) for name, value in (case.headers or {}).items()}
        for name in IGNORED_HEADERS:
            headers.pop(name, None)
        body = None if isinstance(case.body, NotSet) else case.body
        if isinstance(body, dict):
            body = {name: VALID_VALUES.get(name, value) for name, value in body.items()}
        path = fill_path(op.path, case.path_parameters or {})
        request = Request(path, query, headers, body, case.media_type if body is not None else None)
        answer = api.request(op.method, path, headers=headers, **request.options)
        tally.count(op.name, answer)

    send()


if __name__ == "__main__":
    import pytest

    sys.exit(pytest.main(["-q", "-s", "-n0", "tests/contract/test_accepted.py", *sys.argv[1:]]))
