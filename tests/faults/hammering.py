"""A program whose clients all repeat the same request.

`python -m tests.faults.hammering URL CLIENTS [HEADER …]` prints "hammering" once all clients have
started. When its standard input ends, it prints the number of responses by status as JSON.
"""

import contextlib
import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import requests

ROOT = Path(__file__).parents[2]


def main(url: str, clients: str, *headers: str) -> None:
    request_headers = dict(line.split(": ", 1) for line in headers)
    counts: Counter[int] = Counter()
    lock = threading.Lock()
    stop = threading.Event()

    def send_requests() -> None:
        with requests.Session() as session:
            while not stop.is_set():
                response = session.get(url, headers=request_headers, timeout=60)
                with lock:
                    counts[response.status_code] += 1
                stop.wait(float(response.headers.get("Retry-After", 0)))

    threads = [threading.Thread(target=send_requests) for _ in range(int(clients))]
    for thread in threads:
        thread.start()
    sys.stdout.write("hammering\n")
    sys.stdout.flush()
    sys.stdin.read()
    stop.set()
    for thread in threads:
        thread.join()
    sys.stdout.write(json.dumps(counts) + "\n")


@contextlib.contextmanager
def run_clients(url: str, clients: int, headers: dict[str, str]) -> Iterator[Counter[str]]:
    """Run clients during the block. The counter gets the responses by status at its end."""
    lines = [f"{name}: {value}" for name, value in headers.items()]
    command = [sys.executable, "-m", "tests.faults.hammering", url, str(clients), *lines]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    counts: Counter[str] = Counter()
    assert process.stdout is not None
    assert process.stdout.readline() == "hammering\n"
    try:
        yield counts
    finally:
        output, _ = process.communicate(timeout=120)
        counts.update(json.loads(output))


if __name__ == "__main__":
    main(*sys.argv[1:])
