"""Tests of a running service that need no start of their own: all share one."""

import os
import signal
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from devserver import processes
from devserver.databases import can_connect
from devserver.memory import measure_pss
from devserver.process import MAX_LOG_BYTES, find_free_port
from tests.devserver.conftest import RunningProgram, kill_all, run_devserver
from tests.devserver.stand_ins import SCRIPT, get_api_variable, list_children
from tests.factories.waiting import wait_until

# One process of pytest-xdist starts the service.
pytestmark = pytest.mark.xdist_group("stand-in service")


@dataclass
class Service:
    """The running service; `shown` are the lines that it wrote up to the login."""

    program: RunningProgram
    base: dict[str, str]
    shown: list[str]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data_dir = tmp_path_factory.mktemp("service") / "data"
    base = {"DATA_DIR": str(data_dir), "PORT": str(find_free_port())}
    program = RunningProgram(SCRIPT, env=base)
    try:
        program.line(lambda line: line.startswith("Ready after"))
        program.line(lambda line: "curl" in line)
        yield Service(program, base, list(program.output))
        assert program.end(signal.SIGTERM) == 0
        assert not (data_dir / "running.json").exists()
    finally:
        kill_all([program])


def test_it_shows_each_step_then_addresses_users_and_a_login(service):
    text = "\n".join(service.shown)
    steps = [line.split()[1] for line in service.shown if line.startswith("  ok ")]
    assert steps == ["PostgreSQL", "Valkey", "migrations", "demo", "API", "workers"]
    assert f"http://127.0.0.1:{service.base['PORT']}/docs" in text
    for role in ("owner", "admin", "reviewer", "labeler", "viewer"):
        assert f"{role}@demo.example" in text
    assert get_api_variable(service.base, "DEMO_PASSWORD") in text


def test_commands_find_the_database_while_it_is_migrated(service):
    assert "the record names the database" in service.shown


def test_demo_secrets_are_kept_privately(service):
    for name in ("SECRET_KEY", "ENCRYPTION_KEYS", "DEMO_PASSWORD"):
        assert len(get_api_variable(service.base, name)) >= 16
    kept = Path(service.base["DATA_DIR"]) / "secrets.env"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_second_start_on_the_same_data_is_refused_and_does_no_harm(service, running):
    before = list_children(service.base)
    second = running(SCRIPT, env=service.base | {"PORT": str(find_free_port())})
    line = second.line(lambda line: "already running" in line)
    assert f"process {service.program.pid}" in line
    assert second.process.wait(60) == 3
    assert list_children(service.base) == before
    assert get_api_variable(service.base, "PORT") == service.base["PORT"]


@pytest.mark.parametrize("name", ["PostgreSQL", "Valkey", "API", "workers"])
def test_a_child_that_is_killed_runs_again(service, name):
    before = list_children(service.base)[name]
    os.kill(before, signal.SIGKILL)
    service.program.line(lambda line: line.startswith(f"{name} is running again"))
    after = wait_until(lambda: list_children(service.base).get(name))
    assert after != before
    assert processes.is_running(after)


def test_clients_find_a_restarted_server_at_the_same_address(service):
    url = get_api_variable(service.base, "DATABASE_URL")
    os.kill(list_children(service.base)["PostgreSQL"], signal.SIGKILL)
    service.program.line(lambda line: line.startswith("PostgreSQL is running again"))
    wait_until(lambda: can_connect(url))


def test_status_and_env_describe_the_running_service(service, tmp_path):
    nothing = {"DATA_DIR": str(tmp_path / "data")}
    assert run_devserver("status", **nothing).returncode == 1
    assert run_devserver("env", **nothing).returncode == 1
    table = run_devserver("status", **service.base)
    assert table.returncode == 0
    for name, pid in list_children(service.base).items():
        assert any(
            row.split()[:1] == [str(pid)] and f"{name}:" in row for row in table.stdout.splitlines()
        )
    shell = subprocess.run(
        ["sh", "-c", f'{run_devserver("env", **service.base).stdout}\nprintf %s "$DATABASE_URL"'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shell.stdout == get_api_variable(service.base, "DATABASE_URL")


def test_the_supervisor_is_small(service):
    assert 0 < measure_pss([service.program.pid]) < 25 * 1024 * 1024


def test_logs_of_the_servers_are_rotated_while_they_run(service):
    for name in ("postgres", "valkey"):
        log = Path(service.base["DATA_DIR"]) / name / f"{name}.log"
        with log.open("ab") as file:
            file.write(b"x" * (MAX_LOG_BYTES + 1))
        wait_until(lambda log=log: log.stat().st_size < MAX_LOG_BYTES)
        old = log.with_name(f"{name}.log.1")
        assert old.stat().st_size > MAX_LOG_BYTES
