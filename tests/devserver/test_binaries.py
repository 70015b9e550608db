"""Programs in a place that an unprivileged account can reach."""

import os
import stat
import subprocess

import pytest

from devserver import binaries
from devserver.process import Account

ANYBODY = Account(os.geteuid(), os.getegid())


@pytest.fixture
def caches(tmp_path, monkeypatch):
    folder = tmp_path / "caches"
    folder.mkdir()
    monkeypatch.setattr(binaries, "_CACHES", folder)
    return folder


def test_without_another_account_the_installed_programs_are_used(caches):
    program = binaries.find_postgres_binaries(None) / "postgres"
    assert "PostgreSQL" in subprocess.check_output([program, "--version"], text=True)
    assert "v=" in subprocess.check_output(
        [binaries.find_valkey_binary(None), "--version"], text=True
    )
    assert list(caches.iterdir()) == []


def test_a_closed_installation_is_copied_whole_and_open(caches, monkeypatch):
    monkeypatch.setattr(binaries, "_is_accessible", lambda path: False)
    folder = binaries.find_postgres_binaries(ANYBODY)
    assert folder.is_relative_to(caches)
    for name in ("postgres", "initdb"):
        version = subprocess.check_output([folder / name, "--version"], text=True)
        assert "PostgreSQL" in version
    copied = list(caches.rglob("*"))
    assert all(path.stat().st_mode & stat.S_IROTH for path in copied)
    assert not any(path.stat().st_mode & stat.S_IWOTH for path in copied)
    assert binaries.find_valkey_binary(ANYBODY).is_relative_to(caches)
    before = folder.stat().st_ino
    assert binaries.find_postgres_binaries(ANYBODY).stat().st_ino == before


def test_a_umask_that_shut_the_installation_does_not_shut_the_copy(caches, tmp_path):
    source = tmp_path / "site"
    (source / "tool").mkdir(parents=True)
    (source / "tool" / "run").write_text("#!/bin/sh\n")
    (source / "tool" / "run").chmod(0o700)
    (source / "tool" / "data").write_text("x")
    (source / "tool" / "data").chmod(0o600)
    source.chmod(0o700)
    copy = binaries._ensure_accessible(ANYBODY, source, ("tool", "absent"), "tool-1")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in copy.rglob("*")}
    assert modes == {"tool": 0o755, "run": 0o755, "data": 0o644}


def test_a_cache_that_others_can_write_is_refused(caches, monkeypatch):
    monkeypatch.setattr(binaries, "_is_accessible", lambda path: False)
    (caches / "labeling-runtime").mkdir()
    (caches / "labeling-runtime").chmod(0o777)
    with pytest.raises(PermissionError, match="can be written by another user"):
        binaries.find_postgres_binaries(ANYBODY)
