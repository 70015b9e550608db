"""A running worker.py with its processes and a Valkey of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import redis
from rq import Queue, Worker

from app.kit.jobs.queues import GROUPS, QUEUES, count_local_slots
from devserver.valkey import EmbeddedValkey
from tests.factories.sandboxes import belongs_to_fork_server
from tests.factories.waiting import wait_until

ROOT = Path(__file__).parents[3]
JOB_WORKERS = 2
FORKING = [queue for queue in QUEUES.values() if queue.group.forking]
LASTING = 2  # the relay and the deliverer
# And one process for each group, or for each slot of a forking group.
CHILDREN = (
    LASTING
    + len(GROUPS)
    - len(FORKING)
    + sum(count_local_slots(forking_queue, JOB_WORKERS) for forking_queue in FORKING)
)
RQ_WORKERS = CHILDREN - 1  # all but the relay


class Workers:
    """A running worker.py, with a separate Valkey. `settings` are environment variables."""

    def __init__(
        self, environ: dict[str, str], valkey: EmbeddedValkey, log: Path, settings: dict[str, str]
    ) -> None:
        self.valkey = valkey
        self.log = log
        self._seen = 0
        own = {"REDIS_URL": valkey.url, "JOB_WORKERS": str(JOB_WORKERS), "LOG_LEVEL": "INFO"}
        env = {**environ, **own, **settings}
        with log.open("wb") as output:
            self.parent = subprocess.Popen(
                [sys.executable, "worker.py"], cwd=ROOT, env=env, stderr=output
            )
        wait_until(lambda: len(self.children()) >= LASTING)

    def children(self) -> list[psutil.Process]:
        try:
            found = psutil.Process(self.parent.pid).children(recursive=True)
            alive = [child for child in found if child.status() != psutil.STATUS_ZOMBIE]
            return [child for child in alive if not belongs_to_fork_server(child)]
        except psutil.NoSuchProcess:
            return []

    def lines(self, text: str) -> list[str]:
        """Return the lines of the log since the start of the test that contain `text`."""
        lines = self.log.read_text(encoding="utf-8")[self._seen :].splitlines()
        return [line for line in lines if text in line]

    def begin_test(self) -> None:
        """Wait until all processes are connected, and skip the lines that they logged before."""
        wait_until(lambda: len(self.children()) == CHILDREN, "the children")
        wait_until(lambda: count_clients(self) >= CHILDREN, "their connections")
        wait_for_rest(self)
        self._seen = len(self.log.read_text(encoding="utf-8"))


@contextmanager
def start_workers(environ: dict[str, str], folder: Path, **settings: str) -> Iterator[Workers]:
    folder.chmod(0o755)
    with EmbeddedValkey(folder / "valkey") as valkey:
        base = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        started = Workers({**base, **environ}, valkey, folder / "log", settings)
        try:
            yield started
        finally:
            remaining_children = started.children()
            started.parent.kill()
            started.parent.wait(30)
            psutil.wait_procs(remaining_children, 10)


def wait_for_rest(workers: Workers) -> None:
    """Wait until no message is left and every worker waits for one; no job may be due.

    The relay may send a second message for the same job. Once it has begun another round and ended
    it, it sends none.
    """
    with redis.Redis.from_url(workers.valkey.url) as client:

        def count_rounds() -> int:
            return int(client.info("commandstats").get("cmdstat_ping", {}).get("calls", 0))

        first = count_rounds()
        wait_until(lambda: count_rounds() >= first + 3, "another round of the relay")

        def is_at_rest() -> bool:
            queues = Queue.all(connection=client)
            names = [
                key
                for rq_queue in queues
                for key in (rq_queue.key, rq_queue.intermediate_queue_key)
            ]
            if names and client.exists(*names):
                return False
            states = [worker.get_state() for worker in Worker.all(connection=client)]
            return states.count("idle") >= RQ_WORKERS

        wait_until(is_at_rest, "idle workers and no messages")


def count_clients(workers: Workers) -> int:
    """Return the number of connections to Valkey, without the connection of this call."""
    with redis.Redis.from_url(workers.valkey.url, socket_timeout=1) as client:
        try:
            return len(client.client_list()) - 1
        except redis.RedisError:
            return 0
