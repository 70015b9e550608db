"""The supervisor over stand-in children: order, restarts, backoff, and no process left behind."""

import os
import signal
import time

import pytest

from devserver import processes
from tests.devserver.conftest import wait_for_end
from tests.factories.waiting import wait_until

SLEEPS = "import time; time.sleep(600)"
DIES = "raise SystemExit(7)"
IGNORES_SIGTERM = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "print('deaf', flush=True); time.sleep(600)"
)
# A parent whose child left its session, as job runners' do, and would live on without it.
HAS_CHILD = (
    "import subprocess, sys, time;"
    f"subprocess.Popen([sys.executable, '-c', {SLEEPS!r}], start_new_session=True);"
    "time.sleep(600)"
)


def says_when_stopped(word: str) -> str:
    # os.write: the signal may come while a print is under way, which a second one would not bear.
    return (
        "import os, signal, time\n"
        f"def stop(*_): os.write(1, b'{word} stopped\\n'); os._exit(0)\n"
        "signal.signal(signal.SIGTERM, stop)\n"
        f"os.write(1, b'{word} started\\n')\n"
        "time.sleep(600)"
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_signal_ends_everything_with_status_zero(supervise, number):
    service = supervise({"one": SLEEPS}, {"two": SLEEPS, "three": HAS_CHILD})
    children = service.pids_of("one", "two", "three")
    everything = {*children.values(), *service.descendants()}
    assert service.end(number) == 0
    wait_for_end(everything)


def test_stages_stop_in_reverse_order(supervise):
    service = supervise(
        {"first": says_when_stopped("first")}, {"second": says_when_stopped("second")}
    )
    seen = {service.line(lambda line: line.endswith("started")) for _ in range(2)}
    assert seen == {"first started", "second started"}
    service.process.send_signal(signal.SIGTERM)
    assert service.line(lambda line: line.endswith("stopped")) == "second stopped"
    assert service.line(lambda line: line.endswith("stopped")) == "first stopped"
    assert service.process.wait(60) == 0


def test_a_child_deaf_to_sigterm_is_killed_at_its_deadline(supervise):
    service = supervise({"deaf": IGNORES_SIGTERM}, stop_seconds=0.3)
    pids = service.pids_of("deaf")
    service.line(lambda line: line == "deaf")
    began = time.monotonic()
    assert service.end(signal.SIGTERM) == 0
    assert 0.3 <= time.monotonic() - began < 30
    wait_for_end(set(pids.values()))


def test_kill_9_of_the_supervisor_leaves_no_child(supervise):
    service = supervise({"one": SLEEPS, "deaf": IGNORES_SIGTERM})
    pids = service.pids_of("one", "deaf")
    service.line(lambda line: line == "deaf")
    service.end(signal.SIGKILL)
    wait_for_end(set(pids.values()))


def test_a_child_that_was_killed_runs_again(supervise):
    service = supervise({"one": SLEEPS, "two": SLEEPS})
    before = service.pids_of("one", "two")
    os.kill(before["one"], signal.SIGKILL)
    assert "one was killed by SIGKILL" in service.record("report")
    after = service.record("pids", lambda pids: pids.get("one") not in {None, before["one"]})
    assert processes.is_running(after["one"])
    assert after["two"] == before["two"]


def test_what_a_dead_child_leaves_behind_is_killed(supervise):
    service = supervise({"parent": HAS_CHILD}, {"other": SLEEPS})
    pids = service.pids_of("parent", "other")
    orphans = wait_until(lambda: service.descendants() - set(pids.values()))
    os.kill(pids["parent"], signal.SIGKILL)
    wait_for_end(orphans)
    assert processes.is_running(pids["other"])


def list_waits(service, count, status):
    """The waits before the restarts after the next `count` exits with this status."""
    end = f"exited with status {status}"
    reports = [service.record("report", lambda text: end in text) for _ in range(count)]
    return [report.rpartition("next start in ")[2] for report in reports]


def test_the_wait_before_a_restart_doubles_up_to_its_limit(supervise):
    service = supervise({"bad": DIES}, backoff={"first_seconds": 0.05, "longest_seconds": 0.2})
    assert list_waits(service, 4, status=7) == ["0.05 s", "0.1 s", "0.2 s", "0.2 s"]


def test_a_healthy_life_makes_the_next_wait_short_again(supervise):
    lives = "import time; time.sleep(0.3)"
    service = supervise(
        {"brief": lives},
        backoff={"first_seconds": 0.05, "longest_seconds": 9, "healthy_seconds": 0.2},
    )
    assert list_waits(service, 3, status=0) == ["0.05 s"] * 3


def test_a_child_can_have_a_wait_of_its_own(supervise):
    own = {"quick": {"first_seconds": 0.01, "longest_seconds": 0.02}}
    service = supervise(
        {"quick": DIES}, backoff={"first_seconds": 5, "longest_seconds": 9}, own_backoff=own
    )
    assert list_waits(service, 3, status=7) == ["0.01 s", "0.02 s", "0.02 s"]


def test_a_start_that_keeps_failing_ends_the_supervisor(supervise):
    service = supervise(
        {"good": SLEEPS}, {"bad": DIES}, backoff={"first_seconds": 0.01}, attempts=3
    )
    pids = service.pids_of("good")
    assert service.record("failed") == "bad exited 3 times in a row"
    assert service.process.wait(60) == 1
    wait_for_end(set(pids.values()))


def test_a_program_that_is_not_there_is_reported_by_an_error(supervise):
    service = supervise({"good": SLEEPS}, executable="/nonexistent/program")
    pids = service.pids_of("good")
    service.line(lambda line: "FileNotFoundError" in line)
    assert service.process.wait(60) == 1
    wait_for_end(set(pids.values()))


def test_a_task_reports_its_progress_and_its_status(supervise):
    task = (
        "import os, sys; fd = int(os.environ['PROGRESS_FD']);"
        "[os.write(fd, b'step %d\\n' % n) for n in range(3)]; os.write(fd, b'cut'); sys.exit(5)"
    )
    service = supervise({"one": SLEEPS}, task=task)
    assert [service.record("line") for _ in range(3)] == ["step 0", "step 1", "step 2"]
    assert service.record("task") == 5


def test_a_stop_during_a_task_ends_the_task(supervise):
    task = (
        "import os, time; os.write(int(os.environ['PROGRESS_FD']), b'%d\\n' % os.getpid());"
        "time.sleep(600)"
    )
    service = supervise({"one": SLEEPS}, task=task)
    pid = int(service.record("line"))
    assert service.end(signal.SIGTERM) == 0
    wait_for_end({pid})


def test_what_is_due_from_time_to_time_comes_between_deaths(supervise):
    service = supervise({"one": SLEEPS}, interval=0.05, backoff={"first_seconds": 0.01})
    first = service.pids_of("one")["one"]
    for _ in range(3):
        service.record("tick")
    os.kill(first, signal.SIGKILL)
    assert service.record("pids", lambda pids: pids.get("one") not in (None, first))
    service.record("tick")
    assert service.end(signal.SIGTERM) == 0
