import errno
import hashlib
import io
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import fsspec
import pytest
import requests
from moto.server import ThreadedMotoServer

from app.kit.storage import (
    InvalidKey,
    NotStored,
    Storage,
    StorageFull,
    StorageUnavailable,
    TooLarge,
    build_blob_key,
)
from tests.factories.queueing import run_concurrently
from tests.kit.test_storage_disk import CONTENT, SHA256, keys

OPTIONS = "key=test&secret=test&endpoint_url="


@contextmanager
def serve_s3() -> Iterator[str]:
    """Run an object store, and yield its address."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()


def make_bucket(address: str) -> str:
    """Create a bucket in an object store, and return a storage URL with a prefix in it."""
    bucket = f"bucket-{secrets.token_hex(8)}"
    fsspec.filesystem("s3", key="test", secret="test", endpoint_url=address).mkdir(bucket)
    return f"s3://{bucket}/some/prefix?{OPTIONS}{address}"


@pytest.fixture(scope="module")
def s3_address() -> Iterator[str]:
    with serve_s3() as address:
        yield address


@pytest.fixture
def s3_url(s3_address: str) -> str:
    return make_bucket(s3_address)


@pytest.fixture(params=["file", "memory", "s3"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    if request.param == "file":
        return Storage(f"file://{tmp_path}/a folder/files")
    if request.param == "memory":
        return Storage(f"memory://{secrets.token_hex(8)}")
    return Storage(request.getfixturevalue("s3_url"))


def test_write_many_contents_at_once(storage: Storage) -> None:
    storage.write("a/2", [b"old"])
    contents = {f"a/{n}": b"%d" % n * n * 1000 for n in range(40)} | {"b/c/d": b"deep"}
    storage.write_many(contents)
    storage.write_many({})
    assert keys(storage) == sorted(contents)
    assert {key: b"".join(storage.stream(key)) for key in contents} == contents
    with pytest.raises(InvalidKey):
        storage.write_many({"x": b"", "../x": b""})
    assert not storage.exists("x")


def test_files_written_at_once_are_private_and_leave_nothing_after_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage(f"file://{tmp_path}")
    storage.write_many({"a/b": b"x"})
    assert (tmp_path / "a/b").stat().st_mode & 0o777 == 0o600
    write = os.write

    def fail(descriptor: int, data: bytes) -> int:
        if bytes(data) == b"bad":
            raise OSError(errno.ENOSPC, "full")
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(StorageFull):
        storage.write_many({"a/c": b"good", "a/d": b"bad"})
    assert keys(storage) == ["a/b"]


def test_write_and_read_back(storage: Storage) -> None:
    stored = storage.write("a/b.bin", [CONTENT[:100], b"", CONTENT[100:]])
    assert stored == (len(CONTENT), SHA256)
    assert storage.get_size("a/b.bin") == len(CONTENT)
    assert storage.exists("a/b.bin")
    with storage.open("a/b.bin") as file:
        assert file.read(4) == CONTENT[:4]
        file.seek(-3, io.SEEK_END)
        assert file.read() == CONTENT[-3:]
        file.seek(1000)
        assert file.read(10) == CONTENT[1000:1010]


def test_empty_files_are_files(storage: Storage) -> None:
    assert storage.write("empty", []) == (0, hashlib.sha256(b"").hexdigest())
    assert storage.get_size("empty") == 0
    assert list(storage.stream("empty")) == []


def test_writing_again_replaces(storage: Storage) -> None:
    storage.write("a", [b"before"])
    storage.write("a", [b"after"])
    assert b"".join(storage.stream("a")) == b"after"
    assert keys(storage) == ["a"]


@pytest.mark.parametrize(
    ("start", "end"),
    [
        *[(0, None), (10, None), (0, 10), (5, 6), (5, 5), (9, 3), (len(CONTENT) - 2, None)],
        *[(len(CONTENT), None), (len(CONTENT) + 1, len(CONTENT) + 2), (100, len(CONTENT) * 2)],
    ],
)
def test_streams_follow_slices(storage: Storage, start: int, end: int | None) -> None:
    storage.write("a", [CONTENT])
    chunks = list(storage.stream("a", start, end, chunk_bytes=100_000))
    assert b"".join(chunks) == CONTENT[start:end]
    assert all(0 < len(chunk) <= 100_000 for chunk in chunks)


def test_what_is_absent_is_not_stored(storage: Storage) -> None:
    storage.write("folder/file", [b"x"])
    operations: list[Callable[[str], object]] = [storage.open, storage.stream, storage.get_size]
    for key in ("absent", "folder", "folder/file/below", "folder/absent"):
        for operation in operations:
            with pytest.raises(NotStored):
                operation(key)
        with pytest.raises(NotStored), storage.use_local_path(key):
            pass
        assert not storage.exists(key)


def test_a_folder_is_measured_and_cleared_in_batches(storage: Storage) -> None:
    for number in range(7):
        storage.write(f"mine/{number % 3}/{number}", [b"x" * number])
    storage.write("mine-too/file", [b"x"])
    assert storage.measure("mine") == (7, 21)
    assert list(storage.clear("mine", batch_size=3)) == [3, 3, 1]
    assert storage.measure("mine") == (0, 0)
    assert keys(storage) == ["mine-too/file"]
    assert list(storage.clear("mine")) == []


def test_clearing_goes_on_where_it_was_broken_off(storage: Storage) -> None:
    for number in range(5):
        storage.write(f"mine/{number}", [b"x"])
    next(storage.clear("mine", batch_size=2))
    assert storage.measure("mine").file_count == 3
    assert sum(storage.clear("mine", batch_size=2)) == 3


def test_clearing_leaves_no_empty_folders(tmp_path: Path) -> None:
    storage = Storage(f"file://{tmp_path}")
    storage.write("mine/a/b/c", [b"x"])
    storage.write("theirs/a", [b"x"])
    assert sum(storage.clear("mine")) == 1
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "staging") == ["theirs"]


def test_deleting_twice_is_no_error(storage: Storage) -> None:
    storage.write("a/b", [b"x"])
    storage.delete("a/b")
    storage.delete("a/b")
    storage.delete("never/there")
    assert not storage.exists("a/b")
    assert keys(storage) == []


def test_staged_content_gets_its_name_at_the_end(storage: Storage) -> None:
    with storage.stage(limit=len(CONTENT)) as staged:
        staged.write(CONTENT[:1000])
        assert staged.sha256 == hashlib.sha256(CONTENT[:1000]).hexdigest()
        staged.write(CONTENT[1000:])
        assert (staged.size, staged.sha256) == (len(CONTENT), SHA256)
        key = build_blob_key("0190f3a0-0000-7000-8000-000000000001", staged.sha256)
        assert not storage.exists(key)
        assert staged.promote(key) == (len(CONTENT), SHA256)
        with pytest.raises(RuntimeError):
            staged.promote(key)
    assert keys(storage) == [key]
    assert b"".join(storage.stream(key)) == CONTENT


def test_leaving_without_a_name_removes_the_content(storage: Storage) -> None:
    with storage.stage() as staged:
        staged.write(CONTENT)
    with pytest.raises(RuntimeError):
        staged.promote("late")
    assert keys(storage) == []


def test_the_limit_holds_while_bytes_come_in(storage: Storage) -> None:
    taken = 0

    def endless() -> Iterator[bytes]:
        nonlocal taken
        while True:
            taken += 1000
            yield bytes(1000)

    with pytest.raises(TooLarge) as caught:
        storage.write("big", endless(), limit=5000)
    assert caught.value.limit == 5000
    assert taken == 6000
    assert keys(storage) == []
    assert storage.write("fits", [bytes(5000)], limit=5000).size == 5000


def test_a_source_that_fails_leaves_what_was_there(storage: Storage) -> None:
    storage.write("a", [b"before"])

    def failing() -> Iterator[bytes]:
        yield CONTENT * 8  # more than one part of an upload in parts
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        storage.write("a", failing())
    assert b"".join(storage.stream("a")) == b"before"
    assert keys(storage) == ["a"]


def test_content_in_several_parts(storage: Storage) -> None:
    digest = hashlib.sha256(CONTENT * 16).hexdigest()
    assert storage.write("large", [CONTENT] * 16) == (len(CONTENT) * 16, digest)
    assert hashlib.sha256(b"".join(storage.stream("large"))).hexdigest() == digest


def test_listings_have_size_and_time(storage: Storage) -> None:
    assert keys(storage) == keys(storage, "nothing/here") == []
    for key in ("a/1", "a/b/2", "ab/3", "top"):
        storage.write(key, [key.encode()])
    assert keys(storage) == ["a/1", "a/b/2", "ab/3", "top"]
    assert keys(storage, "a/") == keys(storage, "a") == ["a/1", "a/b/2"]
    entry = next(iter(storage.list("ab")))
    assert (entry.key, entry.size) == ("ab/3", 4)
    assert abs(entry.modified_at - datetime.now(UTC)) < timedelta(minutes=1)


def test_folders_are_listed_in_order(storage: Storage) -> None:
    assert storage.list_folders() == storage.list_folders("nothing/here") == []
    for key in ("a/c/3", "a/b/d/1", "a/b/2", "a/file", "ab/3", "top"):
        storage.write(f"base/{key}", [b"x"])
    assert "base" in storage.list_folders()
    assert storage.list_folders("base") == ["a", "ab"]
    assert storage.list_folders("base/a") == ["b", "c"]
    assert storage.list_folders("base/a/c/") == []


def test_sweeping_takes_only_what_is_old(storage: Storage) -> None:
    storage.write("staging/stray", [b"x"])
    storage.write("blobs/kept", [b"x"])
    assert storage.sweep("staging", timedelta(hours=1)) == 0
    assert storage.sweep("staging", timedelta(seconds=-5)) == 1
    assert keys(storage) == ["blobs/kept"]


def test_local_copies_are_files_of_this_machine(storage: Storage) -> None:
    storage.write("a/b", [CONTENT])
    with storage.use_local_path("a/b") as path:
        assert path.read_bytes() == CONTENT
    assert storage.exists("a/b")


def test_signed_links_lead_to_the_file(s3_url: str, tmp_path: Path) -> None:
    storage = Storage(s3_url)
    storage.write("a/b", [b"0123456789"])
    link = storage.sign_link("a/b", name="result.csv", media_type="text/csv", seconds=60)
    assert link is not None
    answer = requests.get(link, timeout=10)
    assert (answer.status_code, answer.content) == (200, b"0123456789")
    part = requests.get(link, headers={"Range": "bytes=2-4"}, timeout=10)
    assert (part.status_code, part.content) == (206, b"234")
    assert "response-content-disposition=attachment" in link
    for url in (f"file://{tmp_path}", "memory://links"):
        local = Storage(url)
        assert local.sign_link("a/b", name="x", media_type="text/csv", seconds=60) is None


def test_local_copies_go_away(s3_url: str) -> None:
    storage = Storage(s3_url)
    storage.write("a", [b"x"])
    with storage.use_local_path("a") as path:
        assert path.exists()
    assert not path.parent.exists()


def test_many_writers_of_one_key_leave_one_whole_content(storage: Storage) -> None:
    contents = [bytes([number]) * 50_000 for number in range(8)]
    run_concurrently(*(partial(storage.write, "a/b/c", [content]) for content in contents))
    assert b"".join(storage.stream("a/b/c")) in contents
    assert keys(storage) == ["a/b/c"]


def test_an_object_store_that_does_not_answer_is_unavailable() -> None:
    storage = Storage(f"s3://bucket?{OPTIONS}http://127.0.0.1:1")
    with pytest.raises(StorageUnavailable):
        storage.exists("a")
    with pytest.raises(StorageUnavailable):
        storage.write("a", [b"x"])
    with pytest.raises(StorageUnavailable):
        list(storage.list())


def test_a_read_from_an_object_store_that_stops_answering_is_an_outage() -> None:
    with serve_s3() as address:
        storage = Storage(make_bucket(address))
        for key in ("gone", "kept"):
            storage.write(key, [bytes(5_000_000)] * 2)
        streams = {key: storage.stream(key) for key in ("gone", "kept")}
        assert [next(stream)[:1] for stream in streams.values()] == [b"\0", b"\0"]
        storage.delete("gone")
        with pytest.raises(NotStored):
            list(streams["gone"])
    with pytest.raises(StorageUnavailable):
        list(streams["kept"])


def test_a_missing_bucket_is_an_outage_for_writers(s3_address: str) -> None:
    storage = Storage(f"s3://no-such-bucket?{OPTIONS}{s3_address}")
    with pytest.raises(StorageUnavailable):
        storage.write("a", [b"x"])
    assert not storage.exists("a")


def test_a_forked_worker_reaches_the_object_store(s3_url: str) -> None:
    storage = Storage(s3_url)
    storage.write("a", [b"x" * 10])
    child = os.fork()
    if child == 0:
        os._exit(storage.get_size("a"))
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 10
