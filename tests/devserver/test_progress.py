"""What the start looks like, on a terminal and elsewhere."""

import os

import pytest

from devserver import progress as module
from devserver.progress import Progress


class Screen:
    """A stream over a file, so that the test can read what was written."""

    encoding = "utf-8"

    def __init__(self, path, terminal):
        self._path = path
        self._file = path.open("wb")
        self._terminal = terminal

    def isatty(self):
        return self._terminal

    def fileno(self):
        return self._file.fileno()

    def text(self, progress):
        assert progress._output.flush(30)
        return self._path.read_text()


@pytest.fixture
def terminal(tmp_path):
    return Screen(tmp_path / "terminal", terminal=True)


@pytest.fixture
def stream(tmp_path):
    return Screen(tmp_path / "stream", terminal=False)


def test_without_a_terminal_each_step_is_one_plain_line(stream):
    progress = Progress(stream)
    progress.begin("migrations")
    progress.tick()
    progress.done("the schema is current")
    progress.begin("demo data")
    progress.advance(1, 12)
    progress.failed()
    lines = stream.text(progress).splitlines()
    assert [line.split()[0] for line in lines] == ["ok", "FAILED"]
    assert "migrations" in lines[0]
    assert lines[0].endswith("s  the schema is current")
    assert "\x1b" not in stream.text(progress)


def test_on_a_terminal_the_step_is_drawn_with_its_bar_and_replaced_by_its_outcome(terminal):
    progress = Progress(terminal)
    progress.begin("demo data")
    progress._drawn_at = 0.0
    progress.advance(6, 12)
    assert "[############............] 6/12" in terminal.text(progress)
    progress.done("made")
    last = terminal.text(progress).rpartition("\x1b[2K")[2]
    assert last.startswith("  ok ")
    assert last.endswith("made\n")


def test_more_done_than_there_was_keeps_the_bar_in_its_frame(terminal):
    progress = Progress(terminal)
    progress.begin("x")
    progress._drawn_at = 0.0
    progress.advance(30, 12)
    assert f"[{'#' * 24}] 30/12" in terminal.text(progress)


def test_a_failure_between_two_steps_says_nothing(stream):
    progress = Progress(stream)
    progress.failed()
    assert stream.text(progress) == ""


@pytest.mark.parametrize("times", [1, 3])
def test_a_closed_pipe_is_no_error(times):
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as stream:  # noqa: PTH123 - a descriptor
        progress = Progress(stream)
        for _ in range(times):
            progress.print_line("x" * 100_000)


def test_nobody_needs_to_read_what_is_said():
    reading, writing = os.pipe()
    with open(writing, "w") as stream:  # noqa: PTH123 - a descriptor
        progress = Progress(stream)
        for _ in range(3):
            progress.print_line("x" * 100_000)
        progress.print_line("the end")
        data = b""
        while b"the end\n" not in data:
            data += os.read(reading, 65536)
        assert len(data) == 3 * 100_001 + len("the end\n")
    os.close(reading)


def test_a_last_message_waits_for_its_reader_for_a_moment_only(monkeypatch):
    reading, writing = os.pipe()
    with open(writing, "w") as stream:  # noqa: PTH123 - a descriptor
        monkeypatch.setattr(module.sys, "stderr", stream)
        monkeypatch.setattr(module, "EXIT_SECONDS", 0.01)
        module.print_error("x" * 100_000)
        began = os.read(reading, 65536)
        assert began.startswith(b"xxx")
    os.close(reading)
