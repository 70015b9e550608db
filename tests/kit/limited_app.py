"""Applications in separate processes that send requests to themselves.

Reads lines of JSON: a list of items with `settings` and `requests`, each with `path`, `address` and
`headers`. For each item, a separate process returns a list of [status, seconds]. The processes of a
line run at the same time, and their results are written as one line. The processes are forked,
because loading the modules takes most of the start time.
"""

import json
import os
import sys
import time
from typing import Any

from app.factory import create_app


def answer(item: dict[str, Any]) -> list[tuple[int, float]]:
    client = create_app({**os.environ, **item["settings"]}).test_client()
    answers = []
    for request in item["requests"]:
        began = time.perf_counter()
        response = client.post(
            f"/api/v1{request['path']}",
            json={},
            headers=request["headers"],
            environ_base={"REMOTE_ADDR": request["address"]},
        )
        answers.append((response.status_code, time.perf_counter() - began))
    return answers


def start(item: dict[str, Any]) -> int:
    """Run an item in a child process, and return the descriptor from which to read its result."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        try:
            os.environ.update(item["settings"])
            os.write(writing, json.dumps(answer(item)).encode())
        finally:
            sys.stderr.flush()
            os._exit(0)
    os.close(writing)
    return reading


def read(descriptor: int) -> Any:
    with os.fdopen(descriptor) as file:
        return json.load(file)


if __name__ == "__main__":
    for line in sys.stdin:
        descriptors = [start(item) for item in json.loads(line)]
        sys.stdout.write(json.dumps([read(descriptor) for descriptor in descriptors]) + "\n")
        sys.stdout.flush()
