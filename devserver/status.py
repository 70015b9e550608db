"""Print the processes, memory and environment of a running service."""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from app.kit.settings import Settings, SettingsError
from devserver import environment, lock
from devserver.memory import measure_pss
from devserver.processes import list_tree

_MIB = 1024 * 1024
_MAX_LABEL_WIDTH = 88


def print_status(environ: Mapping[str, str]) -> int:
    """Print each process of the running service and its memory, and return the exit status.

    The exit status is 1 if no service is running, and 2 if DATA_DIR is invalid.
    """
    if (data_dir := read_data_dir(environ)) is None:
        return 2
    supervisor_pid = lock.find_lock_holder(data_dir)
    if supervisor_pid is None:
        print(f"No service is running on {data_dir}.")
        return 1
    children = environment.RunRecord(data_dir).read().get("children", {})
    names = {supervisor_pid: "supervisor", **{pid: name for name, pid in children.items()}}
    total = 0
    print(f"{'pid':>8} {'PSS MiB':>8}  process")
    for process in list_tree(supervisor_pid):
        pss = measure_pss([process.pid])
        total += pss
        name = names.get(process.pid)
        label = (
            f"{name}: {process.read_command_line()}" if name else f"  {process.read_command_line()}"
        )
        print(f"{process.pid:>8} {pss / _MIB:>8.1f}  {label[:_MAX_LABEL_WIDTH]}")
    print(f"{'total':>8} {total / _MIB:>8.1f}")
    return 0


def print_environment(environ: Mapping[str, str]) -> int:
    """Print the running service's environment as shell commands, and return the exit status.

    The exit status is 1 if no service is running, and 2 if DATA_DIR is invalid.
    """
    if (data_dir := read_data_dir(environ)) is None:
        return 2
    record = environment.RunRecord(data_dir).read()
    if lock.find_lock_holder(data_dir) is None or not record:
        print(f"No service is running on {data_dir}.", file=sys.stderr)
        return 1
    for name, value in record["environment"].items():
        print(f"export {name}={shlex.quote(value)}")
    return 0


def read_data_dir(environ: Mapping[str, str]) -> Path | None:
    """Return DATA_DIR, or print why it is invalid and return None. Check no other setting."""
    variables = {"DATA_DIR": environ.get("DATA_DIR", ""), "DEMO": "on"}
    try:
        return Settings.from_env(variables, require_servers=False).data_dir
    except SettingsError as error:
        print(error, file=sys.stderr)
        return None
