"""Measure requests while other clients stall in a request head, a request body or a download."""

import json
import os
from contextlib import ExitStack
from statistics import median
from typing import Any

from bench import load
from bench.report import Report
from bench.service import Service
from tests.factories import Org
from tests.faults.stalling import run_stalling_clients

STALLED_CONNECTIONS = 500
"""The number of connections that stall in each way: in the head, in the body, or as a reader."""
ROUNDS = 3
MAX_RATIO = 3
_DOWNLOAD_BYTES = 8 * 1024 * 1024


def measure(report: Report, service: Service, org: Org, seconds: float) -> None:
    """Compare the 99th percentile of response times with and without stalled connections."""
    viewer = org.api("viewer").headers()
    download = f"/api/v1/artifacts/{_upload(service, org)}/content"
    lines = [f"{name}: {value}" for name, value in viewer.items()]
    requests = {
        "GET /health/live": load.build_request("GET", "/health/live"),
        "a list of 100": load.build_request("GET", "/api/v1/artifacts?page_size=100", viewer),
    }

    def measure_p99(data: bytes) -> float:
        result = load.run(service.base, lambda *_: data, connections=1, seconds=seconds)
        return result.get_quantile(0.99)

    usual: dict[str, list[float]] = {name: [] for name in requests}
    stalled: dict[str, list[float]] = {name: [] for name in requests}
    for _ in range(ROUNDS):
        for name, data in requests.items():
            usual[name].append(measure_p99(data))
        with ExitStack() as stack:
            port = int(service.base.rpartition(":")[2])
            for way, options in (("head", ()), ("body", ()), ("reader", (download, *lines))):
                stack.enter_context(run_stalling_clients(port, way, STALLED_CONNECTIONS, *options))
            for name, data in requests.items():
                stalled[name].append(measure_p99(data))
    for name in requests:
        title = f"{name} with {3 * STALLED_CONNECTIONS:,} stalled clients, p99"
        ours, floor = median(stalled[name]), median(usual[name])
        report.add_times(title, ours, floor, MAX_RATIO, "without")


def _upload(service: Service, org: Org) -> Any:
    """Upload a file that is larger than a socket's buffer, and return the id of its artifact."""
    boundary = "bench"
    content = b"%PDF-1.7\n" + os.urandom(_DOWNLOAD_BYTES)
    disposition = 'Content-Disposition: form-data; name="file"; filename="large.pdf"'
    body = b"\r\n".join(
        [
            f"--{boundary}\r\n{disposition}\r\nContent-Type: application/pdf\r\n".encode(),
            content,
            f"--{boundary}--\r\n".encode(),
        ]
    )
    headers = org.api("admin").headers()
    headers["Content-Type"] = f"multipart/form-data; boundary={boundary}"
    connection = load.Connection(service.base)
    request = load.build_request("POST", "/api/v1/artifacts", headers, body)
    status, response = connection.send(request)
    connection.socket.close()
    assert status == 201, response
    return json.loads(response)["data"]["id"]
