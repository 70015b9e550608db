"""Fetch the templates that Label Studio publishes in its package; nothing else of it is kept.

    python tools/label_studio/fetch.py VERSION FOLDER

They are Label Studio's (Apache 2.0) and stay out of this repository: the tests of importing a
labeling configuration read them where this puts them.
"""

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

WANTED = "label_studio/annotation_templates/"


def fetch(version: str, folder: Path) -> int:
    """Put the configurations of a version into `folder`, in the place of others; their number."""
    with tempfile.TemporaryDirectory() as scratch:
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
        wanted = ["--no-deps", "--only-binary", ":all:", "--dest", scratch]
        subprocess.run([*pip, *wanted, f"label-studio=={version}"], check=True)
        (wheel,) = Path(scratch).glob("*.whl")
        unpacked = Path(scratch) / "unpacked"
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.startswith(WANTED)]
            configurations = [name for name in names if name.endswith("/config.yml")]
            archive.extractall(unpacked, configurations)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.move(unpacked / WANTED, folder)
    return len(configurations)


if __name__ == "__main__":
    found = fetch(sys.argv[1], Path(sys.argv[2]))
    if not found:
        sys.exit("The package has no templates.")
