"""Crawl a real server of each type: all documents, then only what is new."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from pathlib import Path
from threading import Thread
from typing import Any, Protocol

import boto3
import pytest
from moto.server import ThreadedMotoServer
from pyftpdlib.handlers import FTPHandler

from app.kit import container
from app.kit.egress import Egress, Policy
from tests.engines.sources import ftp_server, imap_server, sftp_server
from tests.intake.conftest import counts
from tests.intake.connectors.conftest import Folder

HOST = "127.0.0.1"


class Place(Protocol):
    """A source to which documents can be added."""

    settings: dict[str, Any]

    def add(self, number: int) -> None: ...


class _Files:
    """A folder that a server serves."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self._folder = folder
        self.settings = settings

    def add(self, number: int) -> None:
        (self._folder / f"{number}.txt").write_text(f"words {number}")


class _QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def serve_http(folder: Path) -> Iterator[Place]:
    handler = partial(_QuietHandler, directory=str(folder))
    with ThreadingHTTPServer((HOST, 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield _Files(folder, url=f"http://{HOST}:{server.server_port}/")
        server.shutdown()


@contextmanager
def serve_ftp(folder: Path) -> Iterator[Place]:
    server = ftp_server.Server(folder, FTPHandler)
    account = {"username": "reader", "password": ftp_server.PASSWORD}
    yield _Files(folder, host=HOST, port=server.port, tls=False, **account)
    server.stop()


@contextmanager
def serve_sftp(folder: Path) -> Iterator[Place]:
    server = sftp_server.Server(folder)
    account = {"username": "reader", "password": sftp_server.PASSWORD}
    key = server.host_key.get_fingerprint()
    yield _Files(folder, host=HOST, port=server.port, path="/", host_key=key, **account)
    server.stop()


class _Mails:
    def __init__(self, mailbox: imap_server.Mailbox, port: int) -> None:
        account = {"username": imap_server.USER, "password": imap_server.PASSWORD}
        self.settings = {"host": HOST, "port": port, "tls": False, "folder": "Crawl", **account}
        self.add = mailbox.add


@contextmanager
def serve_imap(folder: Path) -> Iterator[Place]:
    del folder
    server = imap_server.Server()
    mailbox = imap_server.Mailbox(server, "Crawl")
    yield _Mails(mailbox, server.port)
    mailbox.close()
    server.stop()


class _Bucket:
    def __init__(self, client: Any, url: str) -> None:
        self._client = client
        keys = {"access_key_id": "key", "secret_access_key": "secret"}
        self.settings = {"bucket": "crawled", "endpoint_url": url, "prefix": "in", **keys}

    def add(self, number: int) -> None:
        body = f"words {number}".encode()
        self._client.put_object(Bucket="crawled", Key=f"in/{number}.txt", Body=body)


@contextmanager
def serve_s3(folder: Path) -> Iterator[Place]:
    del folder
    server = ThreadedMotoServer(HOST, port=0, verbose=False)
    server.start()
    url = f"http://{HOST}:{server.get_host_and_port()[1]}"
    client = boto3.client(
        "s3",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
    )
    client.create_bucket(Bucket="crawled")
    yield _Bucket(client, url)
    server.stop()


SERVERS = {
    "http": serve_http,
    "ftp": serve_ftp,
    "sftp": serve_sftp,
    "imap": serve_imap,
    "s3": serve_s3,
}


@pytest.fixture(autouse=True)
def _allow_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = Policy(allowed_networks=(ip_network("127.0.0.0/8"),), allow_http=True)
    monkeypatch.setattr(container.current(), "connector_egress", Egress(policy))


@pytest.mark.parametrize("type_name", SERVERS)
def test_a_crawl_reads_what_is_new(folder: Folder, tmp_path: Path, type_name: str) -> None:
    with ExitStack() as stack:
        place = stack.enter_context(SERVERS[type_name](tmp_path))
        for number in range(5):
            place.add(number)
        connector = folder.connect(type=type_name, settings=place.settings)
        tested = folder.admin.post(f"/connectors/{connector['id']}/test").json["data"]
        assert tested["ok"], tested
        assert len(tested["entries"]) == 5
        job = folder.crawl(connector)
        assert (job["status"], job["counts"]) == ("completed", counts(found=5, created=5))
        place.add(5)
        job = folder.crawl(connector)
        assert (job["status"], job["counts"]) == (
            "completed",
            counts(found=6, created=1, skipped=5),
        )
        (item,) = folder.items(job["id"])
        artifact = folder.artifact(item["artifact_id"])
        assert (artifact["name"], artifact["status"]) == (item["uri"], "ready")


@pytest.mark.parametrize("type_name", SERVERS)
def test_a_host_that_is_gone_ends_the_crawl(folder: Folder, tmp_path: Path, type_name: str) -> None:
    with SERVERS[type_name](tmp_path) as place:
        connector = folder.connect(type=type_name, settings=place.settings)
    job = folder.crawl(connector)
    assert (job["status"], job["error"]["code"]) == ("failed", "unreachable")
    assert [alert["kind"] for alert in folder.alerts(connector)] == ["unreachable"]
