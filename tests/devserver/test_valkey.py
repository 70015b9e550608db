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

STARTS_AND_WAITS = """
import sys, time
from pathlib import Path
from devserver.valkey import EmbeddedValkey
server = EmbeddedValkey(Path(sys.argv[1]))
server.start()
print("pid", server.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def server(tmp_path):
    with EmbeddedValkey(tmp_path / "data") as running:
        yield running


def test_it_keeps_what_it_is_told(server):
    client = redis.Redis.from_url(server.url)
    wanted = {
        "bind": "127.0.0.1",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "maxmemory-policy": "noeviction",
        "save": "",
    }
    assert {name: client.config_get(name)[name] for name in wanted} == wanted


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


def test_it_ends_when_its_starter_is_killed(running, all_gone, tmp_path):
    starter = running("-c", STARTS_AND_WAITS, str(tmp_path / "data"))
    pid = int(starter.line(lambda line: line.startswith("pid")).split()[1])
    starter.end(signal.SIGKILL)
    all_gone({pid})


def test_a_stopped_server_is_not_ready(server):
    assert server.check_ready()
    server.stop()
    assert not server.check_ready()
