"""Start child processes that cannot outlive their parent (Linux), and manage logs and secrets."""

import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.kit.process_lifetime import die_with_parent

MAX_LOG_BYTES = 8 * 1024 * 1024
"""The size in bytes above which a server's log is rotated; one older log is kept."""
_PORT_RANGE = range(20000, 32000)  # below the range that the kernel uses for outgoing connections


@dataclass(frozen=True)
class Account:
    """An unprivileged user account on this machine."""

    uid: int
    gid: int


@dataclass(frozen=True)
class Launch:
    """The program, environment and options with which `spawn` starts a child process.

    `env` is the complete environment. `stdin` is written to standard input, which is /dev/null by
    default. The output is appended to `log`; without a `log`, the child inherits the parent's
    output. The kernel sends `death_signal` when the thread that started the child ends.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    account: Account | None = None
    stdin: bytes = b""
    log: Path | None = None
    death_signal: int = signal.SIGKILL
    pass_fds: tuple[int, ...] = field(default=())


def get_server_account() -> Account | None:
    """Return the account `nobody` if this process runs as root, or None otherwise.

    The servers refuse to run as root.
    """
    if os.geteuid() != 0:
        return None
    entry = pwd.getpwnam("nobody")
    return Account(entry.pw_uid, entry.pw_gid)


def _build_child_setup(signal_number: int) -> Callable[[], None]:
    parent = os.getpid()
    return lambda: die_with_parent(parent, signal_number)


def spawn(launch: Launch) -> subprocess.Popen[bytes]:
    """Start a child process in a new session; the child exits when the calling thread ends.

    Raises OSError if the program cannot be executed.
    """
    output = None if launch.log is None else _open_log(launch.log)
    account = launch.account
    try:
        # The child must set its own death signal; preexec_fn does this and only calls prctl.
        process = subprocess.Popen(  # noqa: S603
            launch.argv,
            cwd=launch.cwd,
            env=dict(launch.env),
            stdin=subprocess.PIPE if launch.stdin else subprocess.DEVNULL,
            stdout=output,
            stderr=output if output is None else subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_build_child_setup(launch.death_signal),  # noqa: PLW1509
            pass_fds=launch.pass_fds,
            user=None if account is None else account.uid,
            group=None if account is None else account.gid,
            extra_groups=None if account is None else (),
        )
    finally:
        if output is not None:
            os.close(output)
    if process.stdin is not None:
        process.stdin.write(launch.stdin)
        process.stdin.close()
    return process


def _open_log(path: Path) -> int:
    """Open a log for appending. If it exceeds MAX_LOG_BYTES, first rename it to `<name>.1`."""
    if path.exists() and path.stat().st_size > MAX_LOG_BYTES:
        path.replace(_get_old_log(path))
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)


def rotate_log(path: Path, limit: int = MAX_LOG_BYTES) -> None:
    """Copy a log that is larger than `limit` to `<name>.1`, and empty it.

    The process that writes the log keeps the file open, and continues at the new end of the file,
    because `spawn` opens logs for appending. Lines written between the copy and the truncation are
    lost. If there is no space for the copy, the log grows to twice `limit` and is then emptied
    without a copy.
    """
    if not path.exists() or (size := path.stat().st_size) <= limit:
        return
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with path.open("rb") as source, os.fdopen(_open_private_file(draft), "wb") as copy:
            shutil.copyfileobj(source, copy)
        draft.replace(_get_old_log(path))
    except OSError:
        draft.unlink(missing_ok=True)
        if size < 2 * limit:
            return
    os.truncate(path, 0)


def _get_old_log(path: Path) -> Path:
    return path.with_name(path.name + ".1")


def _open_private_file(path: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(path, flags, 0o600)


def read_log_tail(path: Path, size: int = 4096) -> str:
    """Return the last `size` bytes of a log as text, or an empty string if there is no log."""
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, path.stat().st_size - size))
            return stream.read().decode("utf-8", "replace")
    except OSError:
        return ""


def is_port_free(port: int) -> bool:
    """Return whether a server can currently listen on this TCP port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def find_free_port() -> int:
    """Return an unused TCP port on 127.0.0.1. Raises OSError after 200 attempts."""
    for port in random.sample(_PORT_RANGE, 200):
        if is_port_free(port):
            return port
    raise OSError("no free TCP port between 20000 and 32000 on 127.0.0.1")


def read_or_create(path: Path, create: Callable[[], str]) -> str:
    """Read the text of a private file. If there is no file, create it with the text `create()`.

    The file has mode 0600 and is created atomically, so that a crash leaves no empty secret.
    """
    if not path.exists():
        write_private_file(path, create())
    return path.read_text(encoding="utf-8").strip()


def write_private_file(path: Path, text: str) -> None:
    """Write `text` and a newline to a file with mode 0600, replacing any older file atomically."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(_open_private_file(draft), "w", encoding="utf-8") as stream:
        stream.write(text + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(path)
