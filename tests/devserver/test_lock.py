"""One supervisor per data folder."""

import os
import signal

import pytest

from devserver.lock import DataInUseError, DataLock, find_lock_holder

HOLDS = """
import sys, time
from pathlib import Path
from devserver.lock import DataLock
lock = DataLock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(600)
"""


def test_a_second_one_is_refused_with_the_first_ones_pid(tmp_path):
    lock = DataLock(tmp_path / "new" / "data")
    with pytest.raises(DataInUseError) as refusal:
        DataLock(tmp_path / "new" / "data")
    assert refusal.value.pid == os.getpid()
    assert find_lock_holder(tmp_path / "new" / "data") == os.getpid()
    lock.release()
    assert find_lock_holder(tmp_path / "new" / "data") is None
    DataLock(tmp_path / "new" / "data").release()


def test_a_killed_holder_holds_nothing(running, tmp_path):
    other = running("-c", HOLDS, str(tmp_path))
    other.line(lambda line: line == "held")
    assert find_lock_holder(tmp_path) == other.pid
    other.end(signal.SIGKILL)
    assert find_lock_holder(tmp_path) is None
    DataLock(tmp_path).release()


def test_a_folder_that_nobody_used_has_no_holder(tmp_path):
    assert find_lock_holder(tmp_path) is None
    assert find_lock_holder(tmp_path / "absent") is None
