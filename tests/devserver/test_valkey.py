"""The embedded Valkey: password, durability, and an end with its starter."""

import os
import signal
import stat
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from devserver.valkey import EmbeddedValkey
from tests.devserver.conftest import check_end_with_starter


@pytest.fixture
def server(tmp_path):
    with EmbeddedValkey(tmp_path / "data") as running:
        yield running


def test_it_has_settings_that_keep_all_data(server):
    client = redis.Redis.from_url(server.url)
    settings = {
        "bind": "127.0.0.1",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "maxmemory-policy": "noeviction",
        "save": "",
    }
    assert {name: client.config_get(name)[name] for name in settings} == settings


def test_the_password_is_needed_private_and_in_no_process_list(server, tmp_path):
    with pytest.raises(redis.AuthenticationError):
        redis.Redis(host="127.0.0.1", port=server.port, retry=Retry(NoBackoff(), 0)).ping()
    file = tmp_path / "data" / "password"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text().strip() not in Path(f"/proc/{server.pid}/cmdline").read_text()


def test_it_never_runs_as_root(server):
    uid = Path(f"/proc/{server.pid}").stat().st_uid
    assert uid != 0
    assert os.geteuid() in {0, uid}


@pytest.mark.parametrize("kill", [False, True])
def test_data_survive_a_stop_and_a_kill_9(server, tmp_path, kill):
    client = redis.Redis.from_url(server.url)
    client.rpush("queue", *range(500))
    if kill:
        os.kill(server.pid, signal.SIGKILL)
    server.stop()
    with EmbeddedValkey(tmp_path / "data") as again:
        assert redis.Redis.from_url(again.url).llen("queue") == 500


def test_it_ends_when_its_starter_is_killed(running, tmp_path):
    check_end_with_starter(running, "EmbeddedValkey(data)", tmp_path / "data")


def test_a_stopped_server_is_not_ready(server):
    assert server.check_ready()
    server.stop()
    assert not server.check_ready()
