"""Compare creating documents and saving tags with and without usage meters."""

import json
import time
from collections.abc import Callable
from statistics import median

from bench import filling, load
from bench.report import Report
from bench.service import Service
from tests.factories import Org
from tests.factories.workspace import Workspace

_ROUNDS = 24
_REQUESTS = 50
_WARM_UP_ROUNDS = 4
_MAX_RATIO = 1.05
_METERED = ("artifacts", "prediction_usage", "schemas", "connectors", "webhooks", "memberships")
_SWITCH = "; ".join(f"ALTER TABLE {table} {{0}} TRIGGER meter_insert" for table in _METERED)


def measure(report: Report, service: Service, org: Org) -> None:
    """Measure the time that the meters' triggers add.

    The organization's plan has no limits, which is the default.
    """
    connection = load.Connection(service.base)
    _compare(report, service, "create a document", _build_document_creator(connection, org))
    _compare(report, service, "save tags", _build_tag_saver(connection, org))


def _compare(report: Report, service: Service, name: str, send: Callable[[int], None]) -> None:
    times: dict[str, list[float]] = {"DISABLE": [], "ENABLE": []}
    number = 0
    with filling.open_cursor(service) as cursor:
        for round_number in range(2 * _ROUNDS):
            # Use both orders equally often, so that other processes affect both in the same way.
            switch = ("DISABLE", "ENABLE", "ENABLE", "DISABLE")[round_number % 4]
            cursor.execute(_SWITCH.format(switch))
            durations = []
            for _ in range(_REQUESTS):
                number += 1
                began = time.perf_counter()
                send(number)
                durations.append(time.perf_counter() - began)
            if round_number >= _WARM_UP_ROUNDS:
                times[switch].append(median(durations))
        cursor.execute(_SWITCH.format("ENABLE"))
    on, off = median(times["ENABLE"]), median(times["DISABLE"])
    report.add_times(f"{name}, metered", on, off, _MAX_RATIO, digits=2)


def _build_document_creator(connection: load.Connection, org: Org) -> Callable[[int], None]:
    headers = org.api("labeler").headers()

    def create(number: int) -> None:
        body = {"name": "note.txt", "text": f"Metered {number}. " + "Some words. " * 40}
        request = load.build_json_request("POST", "/api/v1/artifacts", headers, body)
        status, response = connection.send(request)
        assert status == 201, response

    return create


def _build_tag_saver(connection: load.Connection, org: Org) -> Callable[[int], None]:
    headers = org.api("labeler").headers()
    workspace = Workspace(org)
    draft = workspace.draft(workspace.artifact(workspace.schema()))

    def save(number: int) -> None:
        tags = [{"field": "number", "value": f"A-{number}"}]
        body = {"tags": tags, "revision": draft["revision"]}
        path = f"/api/v1/tag-sets/{draft['id']}/tags"
        _, response = connection.measure(load.build_json_request("PUT", path, headers, body))
        draft["revision"] = json.loads(response)["data"]["revision"]

    return save
