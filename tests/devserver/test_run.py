"""The start of the whole service: steps, refusals, restarts, and what stays after its end."""

import json
import os
import secrets
import shlex
import signal
import socket
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import closing
from pathlib import Path

import psycopg2
import pytest

from devserver import processes
from devserver.memory import measure_pss
from devserver.postgres import EmbeddedPostgres
from devserver.process import LOG_BYTES, free_port
from devserver.valkey import EmbeddedValkey

SCRIPT = str(Path(__file__).with_name("stand_in_service.py"))


@pytest.fixture
def base(tmp_path):
    return {"DATA_DIR": str(tmp_path / "data"), "PORT": str(free_port())}


@pytest.fixture
def start(running, base):
    """Starts the service and reads its output up to the line that says it is ready."""

    def begin(**env):
        service = running(SCRIPT, env=base | env)
        service.line(lambda line: line.startswith("Ready after"))
        return service

    return begin


def children_of(base):
    return json.loads((Path(base["DATA_DIR"]) / "running.json").read_text())["children"]


def environment_of_api(base, name):
    with urllib.request.urlopen(f"http://127.0.0.1:{base['PORT']}/{name}", timeout=30) as answer:
        return answer.read().decode()


def command(base, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "devserver", *arguments],
        env={"PATH": os.environ["PATH"], **base},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_it_shows_each_step_then_addresses_users_and_a_login(start, base):
    service = start()
    service.line(lambda line: "curl" in line)
    text = "\n".join(service.output)
    steps = [line.split()[1] for line in service.output if line.startswith("  ok ")]
    assert steps == ["PostgreSQL", "Valkey", "migrations", "demo", "API", "workers"]
    assert f"http://127.0.0.1:{base['PORT']}/docs" in text
    for role in ("owner", "admin", "reviewer", "labeler", "viewer"):
        assert f"{role}@demo.example" in text
    assert environment_of_api(base, "DEMO_PASSWORD") in text


def test_a_stop_leaves_no_process_and_the_data_survive(start, base, all_gone):
    service = start()
    assert "preparing" in service.output
    database = environment_of_api(base, "DATABASE_URL")
    with closing(psycopg2.connect(database)) as connection, connection, connection.cursor() as sql:
        sql.execute("CREATE TABLE kept AS SELECT 42 AS n")
    everything = service.descendants()
    assert service.end(signal.SIGINT) == 0
    service.line(lambda line: line == "Stopping ...")
    service.line(lambda line: line == "Stopped.")
    all_gone(everything)

    again = start()
    assert "preparing" not in again.output
    database = environment_of_api(base, "DATABASE_URL")
    with closing(psycopg2.connect(database)) as connection, connection, connection.cursor() as sql:
        sql.execute("SELECT n FROM kept")
        assert sql.fetchall() == [(42,)]
    assert again.end(signal.SIGTERM) == 0


def test_kill_9_of_the_supervisor_leaves_no_process_and_a_next_start_works(start, base, all_gone):
    service = start()
    everything = service.descendants()
    assert len(everything) > 8
    service.end(signal.SIGKILL)
    all_gone(everything)
    assert start().end(signal.SIGTERM) == 0


def test_a_second_start_on_the_same_data_is_refused_and_does_no_harm(start, running, base):
    first = start()
    before = children_of(base)
    second = running(SCRIPT, env=base | {"PORT": str(free_port())})
    line = second.line(lambda line: "already runs" in line)
    assert f"process {first.pid}" in line
    assert second.process.wait(60) == 3
    assert children_of(base) == before
    assert environment_of_api(base, "PORT") == base["PORT"]


def test_a_taken_port_stops_the_start_before_anything_is_made(running, base):
    with socket.create_server(("127.0.0.1", int(base["PORT"]))):
        service = running(SCRIPT, env=base)
        assert service.line(lambda line: "is taken by another program" in line)
        assert service.process.wait(60) == 1
    assert not (Path(base["DATA_DIR"]) / "postgres").exists()


@pytest.mark.parametrize("name", ["PostgreSQL", "Valkey", "API", "workers"])
def test_a_child_that_is_killed_runs_again(start, base, eventually, name):
    service = start()
    before = children_of(base)[name]
    os.kill(before, signal.SIGKILL)
    service.line(lambda line: line.startswith(f"{name} runs again"))
    after = eventually(lambda: children_of(base).get(name))
    assert after != before
    assert processes.is_running(after)
    assert service.end(signal.SIGTERM) == 0


def test_clients_find_a_restarted_server_at_the_same_address(start, base, eventually):
    service = start()
    url = environment_of_api(base, "DATABASE_URL")
    os.kill(children_of(base)["PostgreSQL"], signal.SIGKILL)
    service.line(lambda line: line.startswith("PostgreSQL runs again"))

    def answers():
        try:
            psycopg2.connect(url).close()
        except psycopg2.OperationalError:
            return False
        return True

    eventually(answers)


def test_given_servers_are_used_and_not_embedded(start, base, tmp_path):
    with (
        EmbeddedPostgres(tmp_path / "own-postgres", fast=True) as postgres,
        EmbeddedValkey(tmp_path / "own-valkey") as valkey,
    ):
        start(DATABASE_URL=postgres.url, REDIS_URL=valkey.url)
        assert set(children_of(base)) == {"API", "workers"}
        assert environment_of_api(base, "DATABASE_URL") == postgres.url
        assert environment_of_api(base, "REDIS_URL") == valkey.url
    assert not (Path(base["DATA_DIR"]) / "postgres").exists()
    assert not (Path(base["DATA_DIR"]) / "valkey").exists()


def test_demo_secrets_are_made_once_and_kept_privately(start, base):
    names = ("SECRET_KEY", "ENCRYPTION_KEYS", "DEMO_PASSWORD")
    service = start()
    first = {name: environment_of_api(base, name) for name in names}
    assert all(len(value) >= 16 for value in first.values())
    kept = Path(base["DATA_DIR"]) / "secrets.env"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    service.end(signal.SIGTERM)
    start()
    assert {name: environment_of_api(base, name) for name in names} == first


def test_the_password_shown_is_the_one_the_demo_was_made_with(start):
    first = start(DEMO_PASSWORD="correct horse battery")
    first.end(signal.SIGTERM)
    second = start(DEMO_PASSWORD="another one altogether")
    second.line(lambda line: "Organization demo" in line)
    assert second.output[-1].endswith("correct horse battery")


def test_outside_demo_mode_keys_must_be_given(running, base):
    service = running(SCRIPT, env=base | {"DEMO": "off"})
    service.line(lambda line: "SECRET_KEY must be set" in line)
    assert service.process.wait(60) == 2
    assert not Path(base["DATA_DIR"]).exists()


def test_status_and_env_tell_of_the_running_service(start, base):
    assert command(base, "status").returncode == 1
    assert command(base, "env").returncode == 1
    service = start()
    table = command(base, "status")
    assert table.returncode == 0
    for name, pid in children_of(base).items():
        assert any(
            row.split()[:1] == [str(pid)] and f"{name}:" in row for row in table.stdout.splitlines()
        )
    shell = subprocess.run(
        ["sh", "-c", f'{command(base, "env").stdout}\nprintf %s "$DATABASE_URL"'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shell.stdout == environment_of_api(base, "DATABASE_URL")
    service.end(signal.SIGTERM)
    assert not (Path(base["DATA_DIR"]) / "running.json").exists()


def test_the_supervisor_is_small(start):
    service = start()
    assert 0 < measure_pss([service.pid]) < 25 * 1024 * 1024


def test_a_reader_that_goes_away_does_not_stop_the_service(base, eventually):
    process = subprocess.Popen(
        [sys.executable, SCRIPT],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2]), **base},
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    try:
        process.stdout.close()
        eventually(lambda: "API" in _children_or_none(base))
        eventually(lambda: "workers" in _children_or_none(base))
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()


def _children_or_none(base):
    try:
        return children_of(base)
    except OSError:
        return {}


def test_a_server_that_does_not_come_up_ends_the_start_with_its_log(running, base, all_gone):
    first = running(SCRIPT, env=base)
    first.line(lambda line: line.startswith("Ready after"))
    first.end(signal.SIGTERM)
    manifest = next((Path(base["DATA_DIR"]) / "valkey").rglob("*.manifest"))
    manifest.write_text("this is no manifest\n")
    second = running(SCRIPT, env=base)
    second.line(lambda line: line.startswith("Not started: Valkey ended 3 times in a row"))
    second.line(lambda line: "Bad file format" in line or "manifest" in line)
    assert second.process.wait(60) == 1


@pytest.mark.parametrize("name", ["file/data", "file"])
def test_a_data_dir_that_cannot_be_is_refused_in_words(running, base, tmp_path, name):
    (tmp_path / "file").write_text("in the way")
    service = running(SCRIPT, env=base | {"DATA_DIR": str(tmp_path / name)})
    service.line(lambda line: line.startswith("Not started: DATA_DIR cannot be used"))
    assert service.process.wait(60) == 1


def test_a_data_dir_and_a_password_of_any_script_are_fine(start, base, tmp_path):
    base["DATA_DIR"] = str(tmp_path / "données à part 数据")
    password = "pässwörd with 'quotes' и другое"
    service = start(DEMO_PASSWORD=password)
    line = service.line(lambda line: "curl" in line)
    body = shlex.split(line)[-1]
    assert json.loads(body) == {"email": "owner@demo.example", "password": password}
    assert service.end(signal.SIGTERM) == 0


def test_logs_of_the_servers_are_rotated_while_they_run(start, base, eventually):
    start()
    for name in ("postgres", "valkey"):
        log = Path(base["DATA_DIR"]) / name / f"{name}.log"
        with log.open("ab") as file:
            file.write(b"x" * (LOG_BYTES + 1))
        eventually(lambda log=log: log.stat().st_size < LOG_BYTES)
        old = log.with_name(f"{name}.log.1")
        assert old.stat().st_size > LOG_BYTES


def _completed_runs(base, token, function):
    headers = {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(f"http://127.0.0.1:{base['PORT']}/metrics", headers=headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        metrics = answer.read().decode()
    label = f'labeling_jobs_total{{function="{function}",outcome="completed"}}'
    return sum(float(line.split()[-1]) for line in metrics.splitlines() if line.startswith(label))


def test_the_idle_service_writes_nothing_after_its_addresses(running, base, eventually):
    token = secrets.token_urlsafe(32)
    service = running("-m", "devserver", "run", env=base | {"METRICS_TOKEN": token})
    service.line(lambda line: "curl" in line, seconds=240)
    shown = len(service.output)
    before = _completed_runs(base, token, "counters.fold")
    eventually(lambda: _completed_runs(base, token, "counters.fold") > before + 1)
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"http://127.0.0.1:{base['PORT']}/api/v1/schemas", timeout=30)
    line = service.line(lambda line: '"event":"request"' in line)
    assert [text for text in service.output[shown:] if text] == [line]
    assert '"status":401' in line
    assert service.end(signal.SIGTERM) == 0
