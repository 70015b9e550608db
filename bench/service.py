"""Run the measured service as an operator would run it, and run its floor."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from flask import Flask

ROOT = Path(__file__).parents[1]
DELIVERY_NETWORK = "127.0.0.2/32"


def find_free_port() -> int:
    """Return a TCP port on 127.0.0.1 that no program uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_ready(url: str, process: subprocess.Popen[bytes], seconds: float = 180) -> None:
    """Wait until `url` responds with status 200.

    Raises RuntimeError if the process exits first, and TimeoutError after `seconds`.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the process exited with status {process.returncode}")
        with suppress(OSError), urllib.request.urlopen(url, timeout=2) as response:
            if response.status == 200:
                return
        time.sleep(0.1)
    raise TimeoutError(f"{url} was not ready in time")


@dataclass
class Service:
    """The running service; `app` is an application in this process that uses its database."""

    base: str
    environ: dict[str, str]
    process: subprocess.Popen[bytes]
    app: Flask
    folder: Path

    @property
    def database_url(self) -> str:
        """Return the URL of the service's database."""
        return self.environ["DATABASE_URL"]


def stop(process: subprocess.Popen[bytes]) -> None:
    """Terminate a process, and kill it if it does not exit within a minute."""
    process.send_signal(signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(60)
    if process.poll() is None:
        process.kill()


@contextmanager
def run_service(**settings: str) -> Iterator[Service]:
    """Run the whole service under its supervisor with a new data folder; yield the service."""
    with tempfile.TemporaryDirectory(prefix="labeling-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        port = find_free_port()
        environ = {
            **os.environ,
            "DATA_DIR": str(folder / "data"),
            "PORT": str(port),
            "RATE_LIMITS": "off",
            "EGRESS_ALLOWED_NETWORKS": DELIVERY_NETWORK,
            "WEBHOOK_ALLOW_HTTP": "on",
            "CONNECTOR_ALLOWED_NETWORKS": "127.0.0.1/32",
            "CONNECTOR_ALLOW_UNENCRYPTED": "on",
            **settings,
        }
        log = (folder / "service.log").open("wb")
        command = [sys.executable, "-m", "devserver", "run"]
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=log, stderr=log)
        base = f"http://127.0.0.1:{port}"
        try:
            wait_until_ready(f"{base}/health/ready", process)
            yield Service(base, environ, process, _create_application(environ), folder)
        finally:
            stop(process)
            log.close()


def _create_application(environ: dict[str, str]) -> Flask:
    """Create an application that uses the service's servers; update `environ` and `os.environ`."""
    record_file = Path(environ["DATA_DIR"]) / "running.json"
    deadline = time.monotonic() + 30
    while not record_file.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    environ.update(json.loads(record_file.read_text())["environment"])
    os.environ.update(environ)
    from app.factory import create_app  # noqa: PLC0415 - needs the environment

    return create_app({**environ, "LOG_LEVEL": "WARNING"})


@contextmanager
def run_floor(service: Service, plan: Path) -> Iterator[str]:
    """Run `bench.floor` under gunicorn with threads, and yield its base URL."""
    port = find_free_port()
    environ = {**service.environ, "PORT": str(port), "BENCH_PLAN": str(plan)}
    command = [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "-k", "gthread"]
    command.append("bench.floor:app")
    log = (service.folder / "floor.log").open("wb")
    process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=log, stderr=log)
    try:
        wait_until_ready(f"http://127.0.0.1:{port}/", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        stop(process)
        log.close()
