"""Compare creating a document with meters on and off, in turns of the same run."""

import json
import time
from statistics import median

from bench import filling, load
from bench.report import Report, Row
from bench.service import Service
from tests.factories import Org

_TURNS = 24
_DOCUMENTS = 50
_SWITCH = "ALTER TABLE artifacts {} TRIGGER meter_insert"
_MOST = 1.05


def measure(report: Report, service: Service, org: Org) -> None:
    """Measure what the trigger of the meters adds. The plan has no limit, as by default."""
    connection = load.Connection(service.base)
    headers = {**org.api("labeler").headers(), "Content-Type": "application/json"}
    times: dict[str, list[float]] = {"DISABLE": [], "ENABLE": []}
    number = 0
    with filling.open_cursor(service) as cursor:
        for turn in range(2 * _TURNS):
            # Each order as often, so that what runs beside it meets both.
            switch = ("DISABLE", "ENABLE", "ENABLE", "DISABLE")[turn % 4]
            cursor.execute(_SWITCH.format(switch))
            took = []
            for _ in range(_DOCUMENTS):
                number += 1
                body = {"name": "note.txt", "text": f"Metered {number}. " + "Some words. " * 40}
                data = load.request("POST", "/api/v1/artifacts", headers, json.dumps(body).encode())
                began = time.perf_counter()
                status, answer = connection.send(data)
                took.append(time.perf_counter() - began)
                assert status == 201, answer
            if turn >= 4:
                times[switch].append(median(took))
        cursor.execute(_SWITCH.format("ENABLE"))
    on, off = median(times["ENABLE"]), median(times["DISABLE"])
    report.add(
        Row(
            "create a document, metered",
            f"{on * 1000:.2f} ms",
            f"{off * 1000:.2f} ms",
            on / off,
            f"<= {_MOST}",
            on / off <= _MOST,
        )
    )
