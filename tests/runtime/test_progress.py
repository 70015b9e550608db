"""What the start looks like, on a terminal and elsewhere."""

import io
import os

import pytest

from app.runtime.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_without_a_terminal_each_step_is_one_plain_line():
    stream = io.StringIO()
    progress = Progress(stream)
    progress.begin("migrations")
    progress.tick()
    progress.done("the schema is current")
    progress.begin("demo data")
    progress.advance(1, 12)
    progress.failed()
    lines = stream.getvalue().splitlines()
    assert [line.split()[0] for line in lines] == ["ok", "FAILED"]
    assert "migrations" in lines[0]
    assert lines[0].endswith("s  the schema is current")
    assert "\x1b" not in stream.getvalue()


def test_on_a_terminal_the_step_is_drawn_with_its_bar_and_replaced_by_its_outcome():
    stream = Terminal()
    progress = Progress(stream)
    progress.begin("demo data")
    progress._drawn_at = 0.0
    progress.advance(6, 12)
    assert "[############............] 6/12" in stream.getvalue()
    progress.done("made")
    last = stream.getvalue().rpartition("\x1b[2K")[2]
    assert last.startswith("  ok ")
    assert last.endswith("made\n")


def test_more_done_than_there_was_keeps_the_bar_in_its_frame():
    stream = Terminal()
    progress = Progress(stream)
    progress.begin("x")
    progress._drawn_at = 0.0
    progress.advance(30, 12)
    assert f"[{'#' * 24}] 30/12" in stream.getvalue()


def test_a_failure_between_two_steps_says_nothing():
    stream = io.StringIO()
    Progress(stream).failed()
    assert stream.getvalue() == ""


@pytest.mark.parametrize("times", [1, 3])
def test_a_closed_pipe_is_no_error(times):
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as stream:  # noqa: PTH123 - a descriptor
        progress = Progress(stream)
        for _ in range(times):
            progress.say("x" * 100_000)
