"""The sums over all processes: no increment is counted twice or lost in an outage."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from app.kit.metrics.counters import Increments, SeriesKey
from app.kit.metrics.store import SUMS_KEY, MetricStore
from devserver.valkey import EmbeddedValkey
from tests.factories.processes import freeze
from tests.factories.scrape import Series, build_series_key, parse
from tests.factories.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
KEY: SeriesKey = ("labeling_deliveries", ("delivered",), "")
SETUP = """
import os, sys, time
import redis
from app.kit import metrics
def connect(): return redis.Redis.from_url(os.environ["STORE"], socket_timeout=5)
metrics.set_client_factory(connect)
def count(outcome, amount=1): metrics.DELIVERIES.labels(outcome).inc(amount)
"""


def connect_to(url: str) -> Redis:
    return Redis.from_url(
        url, socket_timeout=0.25, socket_connect_timeout=0.25, retry=Retry(NoBackoff(), 0)
    )


@pytest.fixture
def outcome() -> str:
    """Return a label value that no other test uses."""
    return uuid4().hex


@pytest.fixture
def own(tmp_path: Path) -> Iterator[EmbeddedValkey]:
    """Run a Valkey server that the test may stop or damage."""
    tmp_path.chmod(0o755)
    with EmbeddedValkey(tmp_path / "valkey") as server:
        yield server


@pytest.fixture
def store(own: EmbeddedValkey) -> MetricStore:
    """Return a separate store without a sending thread."""
    increments = Increments()
    store = MetricStore(increments)
    increments.on_add = lambda: None
    store.set_client_factory(lambda: connect_to(own.url))
    return store


def add(store: MetricStore, amount: float = 1.0) -> None:
    store._increments.add((KEY, amount))


def add_and_send(store: MetricStore, amount: float = 1.0) -> None:
    add(store, amount)
    assert store.send()


def start(program: str, valkey: EmbeddedValkey) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", SETUP + program],
        cwd=ROOT, env={**os.environ, "STORE": valkey.url}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip


def run(program: str, valkey: EmbeddedValkey) -> str:
    process = start(program, valkey)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return output


def read_page(valkey: EmbeddedValkey) -> dict[Series, float]:
    """Return the series on the metrics page of a new process."""
    return parse(run("print(metrics.render()[0].decode())", valkey))


def total(valkey: EmbeddedValkey, outcome: str) -> float:
    """Return the sum that the metrics page of a new process shows."""
    key = build_series_key("labeling_deliveries_total", {"outcome": outcome})
    return read_page(valkey).get(key, 0.0)


def wait_for_sum(valkey: EmbeddedValkey, outcome: str, expected: float) -> None:
    """Wait for a sum in the server, without starting a process for each check."""
    reader = MetricStore(Increments())
    reader.set_client_factory(lambda: connect_to(valkey.url))
    key: SeriesKey = ("labeling_deliveries", (outcome,), "")
    wait_until(lambda: (reader.read() or {}).get(key) == expected, "the sum")


def test_processes_add_up_and_outlive_their_end(valkey: EmbeddedValkey, outcome: str) -> None:
    for _ in range(3):
        run(f"count('{outcome}', 2)", valkey)
    assert total(valkey, outcome) == 6
    run(f"count('{outcome}'); sys.exit(0)", valkey)
    assert total(valkey, outcome) == 7


def test_histograms_of_several_processes_add_up(valkey: EmbeddedValkey, outcome: str) -> None:
    for seconds in (0.001, 0.3):
        run(f"metrics.observe_request('{outcome}', 'GET', 200, {seconds})", valkey)
    series = read_page(valkey)
    name = "labeling_request_duration_seconds"
    labels = {"operation": outcome, "method": "GET", "status": "200"}
    assert series[build_series_key(f"{name}_count", labels)] == 2
    assert series[build_series_key(f"{name}_sum", labels)] == pytest.approx(0.301)
    assert series[build_series_key(f"{name}_bucket", {**labels, "le": "0.002"})] == 1
    assert series[build_series_key(f"{name}_bucket", {**labels, "le": "0.5"})] == 2


def test_a_process_that_is_killed_leaves_what_it_sent(valkey: EmbeddedValkey, outcome: str) -> None:
    process = start(f"count('{outcome}', 5); input()", valkey)
    wait_for_sum(valkey, outcome, 5)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert total(valkey, outcome) == 5


def test_forked_children_count_for_themselves(valkey: EmbeddedValkey, outcome: str) -> None:
    """A child sends neither its parent's increments nor over its parent's connection."""
    program = f"""
count('{outcome}', 100)
for number in range(20):
    if os.fork() == 0:
        count('{outcome}')
        metrics.flush()
        os._exit(0)
    os.wait()
    if number == 10: metrics.flush()
"""
    run(program, valkey)
    assert total(valkey, outcome) == 120


def test_children_that_live_send_by_threads_of_their_own(
    valkey: EmbeddedValkey, outcome: str
) -> None:
    program = f"""
count('{outcome}')
time.sleep(0)
if os.fork() == 0:
    count('{outcome}', 10)
    sys.stdin.read()
    os._exit(0)
print('forked', flush=True)
os.wait()
"""
    process = start(program, valkey)
    assert process.stdout is not None
    assert process.stdout.readline() == "forked\n"
    wait_for_sum(valkey, outcome, 11)
    process.communicate(timeout=60)
    assert total(valkey, outcome) == 11


def test_a_short_lived_process_leaves_no_mark(own: EmbeddedValkey, outcome: str) -> None:
    run(f"count('{outcome}'); metrics.flush(); os._exit(0)", own)
    assert [key.decode() for key in connect_to(own.url).scan_iter()] == [SUMS_KEY]


def test_an_outage_costs_nothing(store: MetricStore, own: EmbeddedValkey) -> None:
    add_and_send(store)
    own.stop()
    for _ in range(50):
        add(store)
        assert not store.send()
    assert store.read() is None
    assert len(store._increments.copy()) == 1, "they are sums"
    own.start()
    own_again = connect_to(own.url)
    store.set_client_factory(lambda: own_again)
    assert store.send()
    assert store.read() == {KEY: 51.0}


def test_a_server_that_hangs_counts_nothing_twice(store: MetricStore, own: EmbeddedValkey) -> None:
    """When the server continues, it processes the first command, and then the repeated one."""
    add_and_send(store)
    with freeze(own.pid):
        for _ in range(5):
            add(store)
            assert not store.send()
        assert store.read() is None
    wait_until(store.send)
    assert store.read() == {KEY: 6.0}


def test_an_emptied_server_starts_the_counters_again(
    store: MetricStore, own: EmbeddedValkey
) -> None:
    add_and_send(store, 100)
    connect_to(own.url).flushall()
    assert store.read() == {}
    add_and_send(store, 2)
    assert store.read() == {KEY: 2.0}


def test_nothing_is_sent_when_nothing_was_counted(store: MetricStore, own: EmbeddedValkey) -> None:
    add_and_send(store)
    client = connect_to(own.url)
    before = client.info("stats")["total_commands_processed"]
    for _ in range(10):
        assert store.send()
    assert client.info("stats")["total_commands_processed"] == before + 1, "the question itself"


def test_a_second_is_one_command_however_much_was_counted(
    store: MetricStore, own: EmbeddedValkey
) -> None:
    add_and_send(store)
    client = connect_to(own.url)
    client.config_resetstat()
    for number in range(500):
        store._increments.add((("labeling_deliveries", (str(number),), ""), 1.0))
    assert store.send()
    assert client.info("commandstats")["cmdstat_evalsha"]["calls"] == 1
    sums = store.read()
    assert sums is not None
    assert len(sums) == 501


def test_a_damaged_sum_costs_one_batch_and_no_more(store: MetricStore, own: EmbeddedValkey) -> None:
    client = connect_to(own.url)
    client.set(SUMS_KEY, "no hash")
    add(store)
    assert not store.send()
    assert store.read() is None
    client.delete(SUMS_KEY)
    add_and_send(store, 2)
    assert store.read() == {KEY: 2.0}


def test_threads_lose_nothing(store: MetricStore) -> None:
    def count(_: int) -> None:
        for _ in range(1000):
            add(store)

    with ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(count, n) for n in range(8)]
        while not all(future.done() for future in futures):
            store.send()
    wait_until(store.send)
    assert store.read() == {KEY: 8000.0}
