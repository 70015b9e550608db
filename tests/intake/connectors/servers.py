"""A real server of each type of connector that has one, for crawls in tests."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Protocol

import boto3
from moto.server import ThreadedMotoServer
from pyftpdlib.handlers import FTPHandler

from app.kit.ids import uuid7
from tests.engines.sources import (
    azure_server,
    ftp_server,
    gcs_server,
    imap_server,
    sftp_server,
)

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
        # All servers of a process share their buckets.
        self._name = f"crawled-{uuid7().hex}"
        client.create_bucket(Bucket=self._name)
        keys = {"access_key_id": "key", "secret_access_key": "secret"}
        self.settings = {"bucket": self._name, "endpoint_url": url, "prefix": "in", **keys}

    def add(self, number: int) -> None:
        body = f"words {number}".encode()
        self._client.put_object(Bucket=self._name, Key=f"in/{number}.txt", Body=body)


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
    yield _Bucket(client, url)
    server.stop()


class _Store:
    def __init__(self, server: gcs_server.Server | azure_server.Server, **settings: str) -> None:
        self._server = server
        self.settings = {"prefix": "in", "endpoint_url": server.url, **settings}

    def add(self, number: int) -> None:
        self._server.put("crawled", f"in/{number}.txt", f"words {number}".encode())


@contextmanager
def serve_gcs(folder: Path) -> Iterator[Place]:
    del folder
    server = gcs_server.Server("crawled")
    yield _Store(server, bucket="crawled", service_account=gcs_server.build_key())
    server.stop()


@contextmanager
def serve_azure(folder: Path) -> Iterator[Place]:
    del folder
    server = azure_server.Server("crawled")
    account = {"account": azure_server.ACCOUNT, "account_key": azure_server.KEY}
    yield _Store(server, container="crawled", **account)
    server.stop()


SERVERS: dict[str, Callable[[Path], AbstractContextManager[Place]]] = {
    "http": serve_http,
    "ftp": serve_ftp,
    "sftp": serve_sftp,
    "imap": serve_imap,
    "s3": serve_s3,
    "gcs": serve_gcs,
    "azure": serve_azure,
}
