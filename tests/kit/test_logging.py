import json
import logging
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from app.kit import logging as kit_logging
from app.kit.logging import (
    bind_job,
    bind_organization,
    bind_request,
    configure,
    get_logger,
)
from tests.kit.conftest import Lines

pytestmark = pytest.mark.usefixtures("json_logs")

ROOT = Path(__file__).resolve().parents[2]


def fail(message: str) -> None:
    raise RuntimeError(message)


def run(program: str) -> "subprocess.CompletedProcess[str]":
    """Run a Python program whose standard output and error are pipes."""
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_a_line_is_one_json_object(lines: Lines) -> None:
    get_logger("app.test").info("artifact.created", count=3, id=UUID(int=7), share=0.5, none=None)
    (line,) = lines()
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "level": "info", "logger": "app.test", "event": "artifact.created", "count": 3,
        "id": "00000000-0000-0000-0000-000000000007", "share": 0.5, "none": None,
    }  # fmt: skip


def test_bound_values_are_in_every_line_until_the_next_request(lines: Lines) -> None:
    log = get_logger("app.test")
    bind_request("request-1")
    bind_organization("acme")
    log.info("one")
    logging.getLogger("rq.worker").info("two %s", "three")
    bind_job("job-1", "request-1", "acme")
    log.info("four")
    bind_request("request-2")
    log.info("five")
    bound_values = [
        {key: line.get(key) for key in ("event", "request_id", "organization", "job_id")}
        for line in lines()
    ]
    assert bound_values == [
        {"event": "one", "request_id": "request-1", "organization": "acme", "job_id": None},
        {"event": "two three", "request_id": "request-1", "organization": "acme", "job_id": None},
        {"event": "four", "request_id": "request-1", "organization": "acme", "job_id": "job-1"},
        {"event": "five", "request_id": "request-2", "organization": None, "job_id": None},
    ]


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("\ud800", "\ud800"),
        ("a\x00b\nc\u202e", "a\x00b\nc\u202e"),
        (2**80, 2**80),
        (b"\xff" * 10, "[10 bytes]"),
        ({1: {2: 3}}, {"1": {"2": 3}}),
        (Unprintable(), "[Unprintable]"),
        ({"a"}, ["a"]),
    ],
)
def test_odd_values_are_written_all_the_same(lines: Lines, value: object, shown: object) -> None:
    get_logger("app.test").info("x", value=value)
    (line,) = lines()
    assert line["value"] == shown


def test_what_is_nested_without_end_or_too_long_is_cut(lines: Lines) -> None:
    endless: dict[str, Any] = {}
    endless["self"] = endless
    get_logger("app.test").info("x", endless=endless, long="y" * 100_000)
    (line,) = lines()
    assert len(line["long"]) < 17_000
    assert "nested too deep" in json.dumps(line["endless"])


@pytest.mark.parametrize("piece", ["-eyJ", "a", "://", "://a:", "token ", "bearer ", "token="])
def test_no_text_takes_long_to_search(lines: Lines, piece: str) -> None:
    started = time.thread_time()
    get_logger("app.test").info("x", text=piece * 20_000)
    assert time.thread_time() - started < 0.5
    assert len(lines()) == 1


def test_levels_are_kept(lines: Lines) -> None:
    configure("WARNING", "json")
    log = get_logger("app.test")
    log.debug("a")
    log.info("b")
    log.warning("c")
    logging.getLogger("anything").info("d")
    logging.getLogger("anything").error("e")
    assert [line["event"] for line in lines()] == ["c", "e"]


def test_talkative_libraries_stay_quiet_even_in_debug(lines: Lines) -> None:
    configure("DEBUG", "json")
    for name in ("urllib3.connectionpool", "botocore.auth", "sqlalchemy.engine.Engine"):
        logging.getLogger(name).info("headers: everything")
    get_logger("app.test").debug("heard")
    assert [line["event"] for line in lines()] == ["heard"]


def test_handlers_that_others_brought_are_replaced(lines: Lines) -> None:
    foreign = logging.StreamHandler(sys.stdout)
    logging.getLogger("gunicorn.error").addHandler(foreign)
    configure("INFO", "json")
    configure("INFO", "json")
    logging.getLogger("gunicorn.error").info("listening")
    assert [line["event"] for line in lines()] == ["listening"]


def test_warnings_are_log_lines() -> None:
    program = (
        "import warnings; from app.kit.logging import configure; configure();"
        "warnings.warn('old way')"
    )
    line = json.loads(run(program).stderr)
    assert line["logger"] == "py.warnings"
    assert "old way" in line["event"]


def test_text_values_cannot_pass_for_lines(capfd: pytest.CaptureFixture[str]) -> None:
    configure("INFO", "text")
    get_logger("app.test").info("login.failed", name="x\n2026-01-01 critical forged\u202e")
    bind_request("r1")
    try:
        fail("first\nsecond")
    except RuntimeError:
        get_logger("app.test").exception("bad")
    written = capfd.readouterr().err.splitlines()
    assert "\\n2026-01-01 critical forged\\u202e" in written[0]
    assert "request_id=r1" in written[1]
    assert all(line.startswith("    ") for line in written[2:])
    assert written[-1] == "    second"


def test_a_traceback_cannot_steer_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    configure("INFO", "text")
    try:
        fail("\x1b[2Jgone \u202eback\ttab \x9b1A é")
    except RuntimeError:
        get_logger("app.test").exception("bad")
    written = capfd.readouterr().err.splitlines()
    assert written[-1] == "    RuntimeError: \\x1b[2Jgone \\u202eback\ttab \\x9b1A é"


def test_a_formatting_mistake_of_a_caller_does_not_raise() -> None:
    logging.raiseExceptions = False
    try:
        logging.getLogger("x").info("%d", "not a number")
    finally:
        logging.raiseExceptions = True


def test_a_closed_standard_error_does_not_raise() -> None:
    program = (
        "import os; from app.kit.logging import get_logger; os.close(2);"
        "get_logger('x').info('lost'); print('alive')"
    )
    assert run(program).stdout == "alive\n"


def test_lines_of_many_processes_stay_whole() -> None:
    program = (
        "import os; from app.kit.logging import get_logger;"
        "[os.fork() for _ in range(3)];"
        "[get_logger('x').info('line', text='y' * 300) for _ in range(50)]"
    )
    read, write = os.pipe()
    with subprocess.Popen([sys.executable, "-c", program], stderr=write, cwd=ROOT):
        os.close(write)
        with os.fdopen(read) as pipe:
            written = [json.loads(line) for line in pipe]
    assert len(written) == 8 * 50
    assert {line["event"] for line in written} == {"line"}


def _fail_as_rq_does(log: logging.Logger, failure: Exception) -> None:
    """Log exactly what an RQ worker logs if Redis fails at the end of a job."""
    try:
        raise failure
    except type(failure):
        trace = "".join(traceback.format_exception(*sys.exc_info()))
        message = "Worker %s: job %s: exception raised (%s)\n%s"
        log.log(logging.ERROR, message, "w1", "j1", "run", trace)
        log.exception("Worker %s: found an unhandled exception, quitting...", "w1")


@pytest.mark.parametrize("kind", [RedisConnectionError, RedisTimeoutError])
def test_an_outage_of_redis_is_one_short_line(
    kind: type[Exception], lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(kit_logging, "_redis_outage_detector", kit_logging.OutageDetector())
    monkeypatch.setattr(kit_logging.time, "monotonic", lambda: now[0])
    log = logging.getLogger("rq.worker")
    for _ in range(5):
        _fail_as_rq_does(log, kind("Error 111 connecting to 127.0.0.1:6379."))
        now[0] += 10
    (line,) = lines()
    assert line["event"] == "Worker w1: job j1: exception raised (run)"
    assert line["error"] == f"{kind.__name__}: Error 111 connecting to 127.0.0.1:6379."
    assert len(json.dumps(line)) < 500
    now[0] += 60
    _fail_as_rq_does(log, kind("again"))
    assert len(lines()) == 1, "the next outage has its own line"


def test_other_faults_of_rq_keep_their_traceback(lines: Lines) -> None:
    _fail_as_rq_does(logging.getLogger("rq.worker"), ValueError("a fault"))
    first, second = lines()
    assert "Traceback" in first["event"]
    assert "ValueError: a fault" in second["exception"]


def test_a_line_that_cannot_be_rendered_becomes_a_short_error(lines: Lines) -> None:
    record = logging.LogRecord("anything", logging.INFO, "", 1, "%d apples", ("many",), None)
    kit_logging.LineHandler().emit(record)
    (line,) = lines()
    assert (line["event"], line["level"]) == ("log.failed", "error")
    assert "%d apples" in line["error"]


_WRITE_A_LINE = (
    "from app.kit.logging import configure, get_logger;"
    "configure('INFO', {form!r}); get_logger('app.test').info('one', count=1)"
)


def _write_to_terminal(form: str) -> str:
    """Return the output of a process whose standard error is a terminal."""
    controller, terminal = os.openpty()
    program = _WRITE_A_LINE.format(form=form)
    with subprocess.Popen([sys.executable, "-c", program], stderr=terminal, cwd=ROOT) as process:
        os.close(terminal)
        written = b""
        try:
            while data := os.read(controller, 4096):
                written += data
        except OSError:  # the other end was closed
            pass
        assert process.wait(60) == 0
    os.close(controller)
    return written.decode()


def _write_to_pipe(form: str) -> str:
    finished = run(_WRITE_A_LINE.format(form=form))
    assert finished.returncode == 0
    return finished.stderr


def test_lines_are_text_on_a_terminal_and_json_elsewhere() -> None:
    assert _write_to_terminal("auto").rstrip().endswith("Z info     one logger=app.test count=1")
    assert json.loads(_write_to_pipe("auto"))["count"] == 1


def test_an_explicit_format_is_used_wherever_the_lines_go() -> None:
    assert json.loads(_write_to_terminal("json"))["event"] == "one"
    assert _write_to_pipe("text").rstrip().endswith("Z info     one logger=app.test count=1")
