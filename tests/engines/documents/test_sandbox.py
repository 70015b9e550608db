"""Resource limits for a document, whose failure does not affect other documents."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from PIL import Image

from app.engines.documents import Limits, Page, ParseFailed, frames, parse, parse_stream, render
from app.engines.documents.model import FAILURE_CODES
from app.engines.sandbox.model import DONE, FRAME_HEADER
from app.engines.sandbox.process import SandboxedProcess
from tests.engines.documents import samples
from tests.engines.documents.parsing import get_failure
from tests.factories.processes import has_ended, send_signal
from tests.factories.sandboxes import list_sandboxed_processes
from tests.factories.waiting import wait_until

PDF = "application/pdf"


def failure(action: Callable[[], object]) -> ParseFailed:
    error = get_failure(action)
    assert error.code in FAILURE_CODES
    assert not list_sandboxed_processes()
    return error


def replace_output(monkeypatch: pytest.MonkeyPatch, output: bytes) -> None:
    """Let sandboxed processes send this output again and again."""

    def read_output(process: SandboxedProcess) -> None:
        process._buffer += output

    monkeypatch.setattr(SandboxedProcess, "_read_chunk", read_output)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
def test_a_child_that_is_killed(long_pdf: Path, number: signal.Signals) -> None:
    pages: list[Page] = []

    def kill(page: Page) -> None:
        pages.append(page)
        for child in list_sandboxed_processes():
            send_signal(child, number)

    error = failure(lambda: parse_stream(long_pdf, PDF, Limits(), kill))
    assert error.code == "crashed"
    assert number.name in error.message
    assert 0 < len(pages) < 60
    assert len(parse(long_pdf, PDF).pages) == 60


def test_the_memory_limit_does_not_include_the_memory_of_the_caller(long_pdf: Path) -> None:
    ballast = bytearray(b"x") * (250 << 20)

    def kill(_: Page) -> None:
        for child in list_sandboxed_processes():
            send_signal(child, signal.SIGKILL)

    error = failure(lambda: parse_stream(long_pdf, PDF, Limits(memory_bytes=400 << 20), kill))
    assert (error.code, len(ballast)) == ("crashed", 250 << 20)


def test_wall_clock(endless_pdf: Path) -> None:
    begun = time.monotonic()
    error = failure(lambda: parse(endless_pdf, PDF, Limits(wall_seconds=0.6)))
    assert error.code == "timed_out"
    assert "0.6 seconds" in error.message
    assert 0.5 < time.monotonic() - begun < 30


@pytest.mark.parametrize(
    "action", [parse, lambda *given: render(*given[:2], 1, width_px=999, limits=given[2])]
)
def test_processor_time(endless_pdf: Path, action: Callable[[Path, str, Limits], object]) -> None:
    error = failure(lambda: action(endless_pdf, PDF, Limits(cpu_seconds=1)))
    assert error.code == "timed_out"
    assert "processor" in error.message


def test_time_spent_in_the_callback_does_not_count(long_pdf: Path) -> None:
    limits = Limits(wall_seconds=8)
    late = time.monotonic() + limits.wall_seconds + 0.2

    def slow(page: Page) -> None:
        if page.number == 1:
            wait_until(lambda: time.monotonic() > late)

    assert parse_stream(long_pdf, PDF, limits, slow).page_count == 60


def test_memory(tmp_path: Path) -> None:
    big = samples.stored(tmp_path, samples.image("PNG", Image.new("RGB", (9000, 9000))))
    error = failure(lambda: parse(big, "image/png", Limits(memory_bytes=200 << 20)))
    assert error.code == "out_of_memory"
    assert len(parse(big, "image/png").pages) == 1


def test_exceptions_from_the_callback_propagate(long_pdf: Path) -> None:
    def refuse(page: Page) -> None:
        raise KeyError(page.number)

    with pytest.raises(KeyError):
        parse_stream(long_pdf, PDF, Limits(), refuse)
    assert not list_sandboxed_processes()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert failure(lambda: parse(tmp_path / "none", "text/plain")).code == "unreadable"


def test_nothing_is_left_open(tmp_path: Path) -> None:
    path = samples.stored(tmp_path, b"words")
    parse(path, "text/plain")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        parse(path, "text/plain")
        failure(lambda: parse(path, PDF))
        failure(lambda: parse(path, "text/plain", Limits(wall_seconds=0)))
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_the_child_is_confined(long_pdf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "do not hand this on")
    seen: dict[str, object] = {}

    def look(page: Page) -> None:
        for child in [] if seen else list_sandboxed_processes():
            limits = Path(f"/proc/{child.pid}/limits").read_text().splitlines()
            seen["limits"] = {line[:26].strip(): line[26:].split()[:2] for line in limits[1:]}
            seen["threads"] = child.num_threads()
            seen["details"] = _details(child)

    parse_stream(long_pdf, PDF, Limits(memory_bytes=700 << 20, cpu_seconds=17), look)
    limits = seen["limits"]
    assert isinstance(limits, dict)
    assert limits["Max address space"] == [str(700 << 20)] * 2
    assert limits["Max cpu time"] == ["17", "18"]
    assert limits["Max file size"] == ["0", "0"]
    assert limits["Max core file size"] == ["0", "0"]
    assert limits["Max processes"] == ["0", "0"]
    assert limits["Max open files"] == ["64", "64"]
    assert seen["threads"] == 1
    if os.geteuid() != 0:
        assert seen["details"] is None
        return
    environment, files, folder, descriptors = seen["details"]  # type: ignore[misc]
    assert set(environment) <= {
        "LC_ALL",
        "LD_LIBRARY_PATH",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONPATH",
        "PYTHONUTF8",
    }
    assert files == [str(long_pdf)]
    assert folder == "/"
    assert descriptors <= 6


def _details(child: psutil.Process) -> tuple[dict[str, str], list[str], str, int] | None:
    """Return details of a process, or None if this user may not read them."""
    try:
        files = [file.path for file in child.open_files()]
        return child.environ(), files, child.cwd(), child.num_fds()
    except psutil.AccessDenied:
        return None


def test_the_child_dies_with_its_parent(endless_pdf: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from app.engines.documents import parse; "
        f"parse(Path(sys.argv[1]), {PDF!r})"
    )
    root = Path(__file__).resolve().parents[3]
    parent = subprocess.Popen([sys.executable, "-c", code, str(endless_pdf)], cwd=root)
    orphans: list[psutil.Process] = []
    try:
        wait_until(lambda: orphans.extend(list_sandboxed_processes(parent.pid)) or orphans)
        (child,) = orphans[:1]
        wait_until(lambda: child.cpu_times().user > 0.3)
    finally:
        parent.kill()
        parent.wait()
    wait_until(lambda: has_ended(child))


GOOD = (
    b'{"text":"one two","width":1,"height":1,"rotation":0,"has_text_layer":true,'
    b'"is_blank":false,"is_scan":false,'
    b'"starts":[0,4],"ends":[3,7],"boxes":[0,0,9,9,0,0,9,9]}'
)


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (frames.PAGES, b"not JSON"),
        (frames.PAGES, b"[]"),
        (frames.PAGES, b"{}"),
        (frames.PAGES, GOOD.replace(b"[3,7]", b"[3,8]")),
        (frames.PAGES, GOOD.replace(b"[3,7]", b"[3]")),
        (frames.PAGES, GOOD.replace(b"[0,4]", b"[3,4]")),
        (frames.PAGES, GOOD.replace(b"[0,4]", b"[-1,4]")),
        (frames.PAGES, GOOD.replace(b"[0,4]", b'["0",4]')),
        (frames.PAGES, GOOD.replace(b"[0,0,9,9,0,0,9,9]", b"[0,0,9,9,0,0,9,100001]")),
        (frames.PAGES, GOOD.replace(b"[0,0,9,9,0,0,9,9]", b"[0,0,9,9,0,-1,9,9]")),
        (frames.PAGES, GOOD.replace(b"[0,0,9,9,0,0,9,9]", b"[0,0,9,9,0,0,9,0.5]")),
        (frames.PAGES, GOOD.replace(b'"width":1', b'"width":"wide"')),
        (frames.FAILED, b"not JSON"),
        (frames.FAILED, b'{"code":"new_code","message":""}'),
        (frames.FAILED, b'{"code":["a"],"message":""}'),
        (frames.LANGUAGE, b"english"),
        (frames.LANGUAGE, b"\xff\xff"),
        (frames.TEXT, b"text after a page"),
        (frames.IMAGE, b"an image"),
        (DONE, b""),
        (b"?", b""),
    ],
)
def test_invalid_frames_are_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: bytes, payload: bytes
) -> None:
    answers = [(frames.PAGES, GOOD), (kind, payload)]
    output = b"".join(FRAME_HEADER.pack(name, len(data)) + data for name, data in answers)
    replace_output(monkeypatch, output)
    path = samples.stored(tmp_path, b"")
    pages: list[Page] = []
    error = failure(lambda: parse_stream(path, PDF, Limits(), pages.append))
    assert (error.code, len(pages)) == ("crashed", 1)
    assert [word.text for word in pages[0].words] == ["one", "two"]


def test_a_frame_with_a_huge_declared_length_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_output(monkeypatch, FRAME_HEADER.pack(frames.PAGES, 0xFFFFFFFF))
    path = samples.stored(tmp_path, b"")
    assert failure(lambda: parse(path, PDF)).code == "crashed"


@pytest.mark.parametrize("frame_pages", [1, 3, 20])
def test_more_pages_than_the_limit_are_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frame_pages: int
) -> None:
    blank = GOOD.replace(b"one two", b"").replace(b"[0,4]", b"[]").replace(b"[3,7]", b"[]")
    blank = blank.replace(b"[0,0,9,9,0,0,9,9]", b"[]")
    pages_of_frame = b"\n".join([blank] * frame_pages)
    header = FRAME_HEADER.pack(frames.PAGES, len(pages_of_frame))
    replace_output(monkeypatch, header + pages_of_frame)
    path = samples.stored(tmp_path, b"")
    pages: list[Page] = []
    error = failure(lambda: parse_stream(path, PDF, Limits(max_pages=7), pages.append))
    assert (error.code, len(pages)) == ("crashed", 7)
