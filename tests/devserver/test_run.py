"""The start of the whole service: refusals, restarts, and what stays after its end."""

import json
import os
import secrets
import shlex
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from app.kit.secrets import hash_password
from devserver import prepare
from devserver.postgres import EmbeddedPostgres
from devserver.process import find_free_port
from devserver.valkey import EmbeddedValkey
from tests.devserver.conftest import query, wait_for_end
from tests.devserver.stand_ins import SCRIPT, get_api_variable, list_children
from tests.factories.waiting import wait_until
from tests.faults.conftest import get_first_data

SECRETS = ("SECRET_KEY", "ENCRYPTION_KEYS", "DEMO_PASSWORD")


@pytest.fixture
def base(tmp_path):
    return {"DATA_DIR": str(tmp_path / "data"), "PORT": str(find_free_port())}


@pytest.fixture
def start(running, base):
    """Starts the service and reads its output up to the line that says it is ready."""

    def begin(**env):
        service = running(SCRIPT, env=base | env)
        service.line(lambda line: line.startswith("Ready after"))
        return service

    return begin


def _run_sql(base, statement):
    return query(get_api_variable(base, "DATABASE_URL"), statement)


def test_data_and_secrets_survive_a_stop_and_a_kill_which_leave_no_process(start, base):
    first = start()
    assert "preparing" in first.output
    generated = {name: get_api_variable(base, name) for name in SECRETS}
    _run_sql(base, "CREATE TABLE kept AS SELECT 42 AS n")
    everything = first.descendants()
    assert first.end(signal.SIGINT) == 0
    first.line(lambda line: line == "Stopping ...")
    first.line(lambda line: line == "Stopped.")
    wait_for_end(everything)

    second = start()
    assert "preparing" not in second.output
    assert _run_sql(base, "SELECT n FROM kept") == [(42,)]
    assert {name: get_api_variable(base, name) for name in SECRETS} == generated
    everything = second.descendants()
    assert len(everything) > 8
    second.end(signal.SIGKILL)
    wait_for_end(everything)

    third = start()
    assert _run_sql(base, "SELECT n FROM kept") == [(42,)]
    assert third.end(signal.SIGTERM) == 0


def test_a_data_dir_and_a_password_of_any_script_are_fine_and_the_password_is_kept(
    start, base, tmp_path
):
    base["DATA_DIR"] = str(tmp_path / "données à part 数据")
    password = "pässwörd with 'quotes' и другое"
    first = start(DEMO_PASSWORD=password)
    body = shlex.split(first.line(lambda line: "curl" in line))[-1]
    assert json.loads(body) == {"email": "owner@demo.example", "password": password}
    assert first.end(signal.SIGTERM) == 0
    # The one that is shown is the one with which the demo was made.
    second = start(DEMO_PASSWORD="another one altogether")
    assert second.line(lambda line: "Organization demo" in line).endswith(password)
    assert second.end(signal.SIGTERM) == 0


def test_a_taken_port_stops_the_start_before_anything_is_made(running, base):
    with socket.create_server(("127.0.0.1", int(base["PORT"]))):
        service = running(SCRIPT, env=base)
        assert service.line(lambda line: "is already used by another program" in line)
        assert service.process.wait(60) == 1
    assert not (Path(base["DATA_DIR"]) / "postgres").exists()


def test_given_servers_are_used_and_not_embedded(start, base, tmp_path, monkeypatch):
    with (
        EmbeddedPostgres(tmp_path / "own-postgres", fast=True) as postgres,
        EmbeddedValkey(tmp_path / "own-valkey") as valkey,
    ):
        start(DATABASE_URL=postgres.url, REDIS_URL=valkey.url)
        assert set(list_children(base)) == {"API", "workers"}
        assert get_api_variable(base, "DATABASE_URL") == postgres.url
        # No file records the password of the demo users in an external database.
        _run_sql(base, "CREATE TABLE users (email text, password_hash text)")
        password_hash = hash_password("the stored one")
        _run_sql(base, f"INSERT INTO users VALUES ('owner@demo.example', '{password_hash}')")
        monkeypatch.setenv("DATABASE_URL", postgres.url)
        for password, state in (("the stored one", "demo present"), ("another", "demo changed")):
            monkeypatch.setenv("DEMO_PASSWORD", password)
            assert prepare.find_demo_state() == state
        assert get_api_variable(base, "REDIS_URL") == valkey.url
    assert not (Path(base["DATA_DIR"]) / "postgres").exists()
    assert not (Path(base["DATA_DIR"]) / "valkey").exists()


def test_outside_demo_mode_keys_must_be_given(running, base):
    service = running(SCRIPT, env=base | {"DEMO": "off"})
    service.line(lambda line: "SECRET_KEY must be set" in line)
    assert service.process.wait(60) == 2
    assert not Path(base["DATA_DIR"]).exists()


def test_a_reader_that_goes_away_does_not_stop_the_service(base):
    process = subprocess.Popen(
        [sys.executable, SCRIPT],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2]), **base},
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    try:
        process.stdout.close()
        wait_until(lambda: "API" in _children_or_none(base))
        wait_until(lambda: "workers" in _children_or_none(base))
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()


def _children_or_none(base):
    try:
        return list_children(base)
    except OSError:
        return {}


def test_a_server_that_does_not_come_up_ends_the_start_with_its_log(running, base):
    first = running(SCRIPT, env=base)
    first.line(lambda line: line.startswith("Ready after"))
    first.end(signal.SIGTERM)
    manifest = next((Path(base["DATA_DIR"]) / "valkey").rglob("*.manifest"))
    manifest.write_text("this is no manifest\n")
    second = running(SCRIPT, env=base)
    second.line(lambda line: line.startswith("Not started: Valkey exited 3 times in a row"))
    second.line(lambda line: "Bad file format" in line or "manifest" in line)
    assert second.process.wait(60) == 1


@pytest.mark.parametrize("name", ["file/data", "file"])
def test_a_data_dir_that_cannot_be_is_refused_in_words(running, base, tmp_path, name):
    (tmp_path / "file").write_text("in the way")
    service = running(SCRIPT, env=base | {"DATA_DIR": str(tmp_path / name)})
    service.line(lambda line: line.startswith("Not started: DATA_DIR cannot be used"))
    assert service.process.wait(60) == 1


def _completed_runs(base, token, function):
    headers = {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(f"http://127.0.0.1:{base['PORT']}/metrics", headers=headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        metrics = answer.read().decode()
    label = f'labeling_jobs_total{{function="{function}",outcome="completed"}}'
    return sum(float(line.split()[-1]) for line in metrics.splitlines() if line.startswith(label))


def test_the_idle_service_writes_nothing_after_its_addresses(running, base):
    token = secrets.token_urlsafe(32)
    # A first start migrates and loads the demo for most of its time.
    subprocess.run(["cp", "-a", get_first_data(), base["DATA_DIR"]], check=True)
    service = running("-m", "devserver", "run", env=base | {"METRICS_TOKEN": token})
    service.line(lambda line: "curl" in line, seconds=240)
    shown = len(service.output)
    before = _completed_runs(base, token, "counters.fold")
    wait_until(lambda: _completed_runs(base, token, "counters.fold") > before + 1)
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"http://127.0.0.1:{base['PORT']}/api/v1/schemas", timeout=30)
    line = service.line(lambda line: '"event":"request"' in line)
    # The copied data may be old enough for emails about notifications of the demo's members.
    lines = [text for text in service.output[shown:] if text and '"mail.written"' not in text]
    assert lines == [line]
    assert '"status":401' in line
    assert service.end(signal.SIGTERM) == 0
