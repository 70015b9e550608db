"""Download the sample documents in the source packages of libraries.

    python -m tools.sample_documents.fetch FOLDER

The documents belong to the libraries' authors, so this repository does not contain them. The tests
that parse documents read them from FOLDER. requirements.txt lists the packages and their hashes.
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
SAMPLES = {
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
"""For each package, a pattern of the files to keep, and an extension to add to their names."""
OUTLOOK = re.compile(r"/mail_outlook_\d+$")
MAX_BYTES = 2_000_000


def fetch(folder: Path) -> int:
    """Replace `folder` with the downloaded documents, and return their number."""
    shutil.rmtree(folder, ignore_errors=True)
    variables = build_uv_environment(os.environ)
    context = ssl.create_default_context(cafile=variables.get("SSL_CERT_FILE"))
    count = 0
    with tempfile.TemporaryDirectory() as scratch:
        for url in find_archives(Path(scratch) / "pylock.toml", variables):
            archive = Path(scratch) / url.rpartition("/")[2]
            with urlopen(url, context=context) as response, archive.open("wb") as target:  # noqa: S310 - a URL of the registry
                shutil.copyfileobj(response, target)
            check_hash(archive)
            count += unpack(archive, folder)
    return count


def find_archives(lock: Path, variables: Mapping[str, str]) -> list[str]:
    """Let uv write the lock file `lock`, and return the URLs of the source packages in it.

    `pip download` would first build the metadata of each package, which takes 20 seconds.
    """
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-deps"]
    command += ["--format", "pylock.toml", "--output-file", str(lock), str(ARCHIVES)]
    subprocess.run(command, check=True, env=variables)
    packages = tomllib.loads(lock.read_text(encoding="utf-8"))["packages"]
    return [package["sdist"]["url"] for package in packages]


def check_hash(archive: Path) -> None:
    """Exit with an error if requirements.txt does not contain the SHA-256 of an archive."""
    with archive.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    if f"--hash=sha256:{digest}" not in ARCHIVES.read_text(encoding="utf-8").split():
        sys.exit(f"The hash of {archive.name} is not in {ARCHIVES.name}.")


def unpack(archive: Path, folder: Path) -> int:
    """Write an archive's documents of at most MAX_BYTES to `folder`, and return their number."""
    package = re.split(r"-(?=\d)", archive.name)[0].replace("-", "_")
    pattern, extension = SAMPLES[package]
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
            # Only the name is used, because an archive must not choose the folder of a file.
            (target / (Path(entry.name).name + suffix)).write_bytes(source.read())
            count += 1
    return count


if __name__ == "__main__":
    if not fetch(Path(sys.argv[1])):
        sys.exit("The packages have no sample documents.")
