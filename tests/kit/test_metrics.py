import json
import os
import re
import signal
import stat
import subprocess
import sys
import timeit
from collections.abc import Iterable
from pathlib import Path

import pytest

from app.kit import metrics
from app.kit.metrics import QueueReading, register_collector

ROOT = Path(__file__).resolve().parents[2]
DELIVERED = 'labeling_deliveries_total{outcome="delivered"}'


def sample(text: str, name: str) -> float | None:
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return float(found[1]) if found else None


def run(program: str, folder: Path) -> str:
    """Run a program that counts in files of its own, as a process of the service does."""
    environ = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", "from app.kit import metrics\n" + program],
        cwd=ROOT, env=environ, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return done.stdout


@pytest.fixture(autouse=True)
def _no_collectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "_collectors", [])


def rendered() -> str:
    body, content_type = metrics.render()
    assert content_type.startswith("text/plain")
    return body.decode()


def test_requests_are_counted_by_operation_method_and_status() -> None:
    before = sample(rendered(), _count("list_things", "GET", 200)) or 0
    metrics.observe_request("list_things", "GET", 200, 0.03)
    metrics.observe_request("list_things", "GET", 200, 7.0)
    metrics.observe_request("list_things", "GET", 404, 0.03)
    text = rendered()
    assert sample(text, _count("list_things", "GET", 200)) == before + 2
    assert sample(text, _count("list_things", "GET", 404)) is not None
    bucket = (
        'labeling_request_duration_seconds_bucket{le="%s",method="GET",operation="list_things",'
        'status="200"}'
    )
    assert sample(text, bucket % "0.025") == 0
    assert sample(text, bucket % "0.05") == before + 1
    assert sample(text, bucket % "+Inf") == before + 2


def _count(operation: str, method: str, status: int) -> str:
    return (
        f'labeling_request_duration_seconds_count{{method="{method}",operation="{operation}",'
        f'status="{status}"}}'
    )


def test_methods_made_up_by_clients_are_one_series() -> None:
    for number in range(100):
        metrics.observe_request("made_up", f"X{number}", 405, 0.001)
    text = rendered()
    assert sample(text, _count("made_up", "other", 405)) == 100
    assert "X99" not in text
    assert len([key for key in metrics._request_series if key[0] == "made_up"]) == 0


def test_recording_a_request_costs_under_20_microseconds() -> None:
    metrics.observe_request("read_thing", "GET", 200, 0.01)
    runs = timeit.repeat(
        lambda: metrics.observe_request("read_thing", "GET", 200, 0.01), number=1000, repeat=5
    )
    assert min(runs) / 1000 < 20e-6


def test_recording_a_request_in_files_costs_under_20_microseconds(tmp_path: Path) -> None:
    program = """
import timeit
metrics.observe_request("read_thing", "GET", 200, 0.01)
runs = timeit.repeat(
    lambda: metrics.observe_request("read_thing", "GET", 200, 0.01), number=1000, repeat=5
)
print(min(runs) / 1000)
"""
    assert float(run(program, tmp_path / "metrics")) < 20e-6


def test_queues_are_read_when_asked() -> None:
    readings = [QueueReading("webhooks", 3, 12.5), QueueReading("exports", 0, 0.0)]
    register_collector(lambda: readings)
    text = rendered()
    assert sample(text, 'labeling_queue_depth{queue="webhooks"}') == 3
    assert sample(text, 'labeling_queue_oldest_due_seconds{queue="webhooks"}') == 12.5
    assert sample(text, 'labeling_queue_depth{queue="exports"}') == 0
    readings[:] = [QueueReading("webhooks", 0, 0.0)]
    text = rendered()
    assert sample(text, 'labeling_queue_depth{queue="webhooks"}') == 0
    assert sample(text, 'labeling_queue_depth{queue="exports"}') is None


def test_a_collector_that_fails_is_counted_and_the_rest_is_shown() -> None:
    def broken() -> Iterable[QueueReading]:
        yield QueueReading("half", 1, 1.0)
        raise ConnectionError("the database is away")

    register_collector(broken)
    register_collector(broken)
    register_collector(lambda: [QueueReading("webhooks", 3, 1.0)])
    before = sample(rendered(), "labeling_collector_failures_total")
    text = rendered()
    assert before is not None
    assert sample(text, "labeling_collector_failures_total") == before + 1
    assert sample(text, 'labeling_queue_depth{queue="webhooks"}') == 3
    assert sample(text, 'labeling_queue_depth{queue="half"}') is None


def test_processes_add_up_and_outlive_their_end(tmp_path: Path) -> None:
    folder = tmp_path / "metrics"
    for _ in range(3):
        run("metrics.DELIVERIES.labels('delivered').inc(2)", folder)
    files = [path for path in folder.glob("counter_*.db") if path.stem != "counter_ended"]
    assert len(files) == 3
    text = run("print(metrics.render()[0].decode())", folder)
    assert sample(text, DELIVERED) == 6
    left = {path.stem for path in folder.glob("counter_*.db")}
    assert "counter_ended" in left
    assert not left & {path.stem for path in files}
    run("metrics.DELIVERIES.labels('delivered').inc()", folder)
    text = run("print(metrics.render()[0].decode())", folder)
    assert sample(text, DELIVERED) == 7


def test_histograms_survive_the_folding(tmp_path: Path) -> None:
    folder = tmp_path / "metrics"
    for seconds in (0.001, 0.3):
        run(f"metrics.observe_request('a', 'GET', 200, {seconds})", folder)
    for _ in range(2):
        text = run("print(metrics.render()[0].decode())", folder)
        series = 'method="GET",operation="a",status="200"}'
        name = "labeling_request_duration_seconds"
        assert sample(text, f"{name}_count{{{series}") == 2
        assert sample(text, f"{name}_sum{{{series}") == pytest.approx(0.301)
        assert sample(text, f'{name}_bucket{{le="0.002",{series}') == 1
        assert sample(text, f'{name}_bucket{{le="0.5",{series}') == 2


def test_files_of_running_processes_are_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "metrics"
    environ = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(folder)}
    program = (
        "from app.kit import metrics; metrics.DELIVERIES.labels('delivered').inc(5);"
        "print('ready', flush=True); input(); metrics.DELIVERIES.labels('delivered').inc(5);"
        "print('done', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=ROOT, env=environ, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as counting:  # fmt: skip
        assert counting.stdin is not None
        assert counting.stdout is not None
        assert counting.stdout.readline() == "ready\n"
        assert sample(run("print(metrics.render()[0].decode())", folder), DELIVERED) == 5
        assert (folder / f"counter_{counting.pid}.db").exists()
        counting.stdin.write("\n")
        counting.stdin.flush()
        assert counting.stdout.readline() == "done\n"
        counting.send_signal(signal.SIGKILL)
        counting.wait(timeout=30)
    assert sample(run("print(metrics.render()[0].decode())", folder), DELIVERED) == 10
    assert not (folder / f"counter_{counting.pid}.db").exists()


def test_forked_jobs_count_and_leave_few_files(tmp_path: Path) -> None:
    folder = tmp_path / "metrics"
    program = """
import os
for _ in range(20):
    if os.fork() == 0:
        metrics.JOBS.labels('export', 'completed').inc()
        os._exit(0)
    os.wait()
print(metrics.render()[0].decode())
"""
    text = run(program, folder)
    assert sample(text, 'labeling_jobs_total{function="export",outcome="completed"}') == 20
    assert len(list(folder.glob("counter_*.db"))) <= 2


def test_damaged_and_foreign_files_do_not_break_the_page(tmp_path: Path) -> None:
    folder = tmp_path / "metrics"
    run("metrics.DELIVERIES.labels('delivered').inc()", folder)
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"],
                           capture_output=True, text=True, check=True).stdout.strip()  # fmt: skip
    (folder / f"counter_{ended}.db").write_bytes(b"\xff" * 100)
    (folder / "counter_1.db").write_bytes(b"")
    assert sample(run("print(metrics.render()[0].decode())", folder), DELIVERED) == 1


def test_the_folder_comes_from_the_data_folder_and_is_private(tmp_path: Path) -> None:
    environ = {key: value for key, value in os.environ.items() if key != "PROMETHEUS_MULTIPROC_DIR"}
    environ["DATA_DIR"] = str(tmp_path / "data")
    program = (
        "import json, os; from app.kit import metrics; print(json.dumps(str(metrics._folder)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT, env=environ, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    folder = Path(json.loads(done.stdout))
    assert folder == tmp_path / "data" / "metrics"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert list(folder.glob("*.db"))
