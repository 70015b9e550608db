"""Download the labeling configurations of the templates in Label Studio's package.

    python tools/label_studio/fetch.py VERSION FOLDER

The templates belong to Label Studio (Apache 2.0), so this repository does not contain them. The
tests that import labeling configurations read them from FOLDER.
"""

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

TEMPLATES = "label_studio/annotation_templates/"


def fetch(version: str, folder: Path) -> int:
    """Replace `folder` with the configurations of a version, and return their number."""
    with tempfile.TemporaryDirectory() as scratch:
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
        options = ["--no-deps", "--only-binary", ":all:", "--dest", scratch]
        subprocess.run([*pip, *options, f"label-studio=={version}"], check=True)
        (wheel,) = Path(scratch).glob("*.whl")
        unpacked = Path(scratch) / "unpacked"
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.startswith(TEMPLATES)]
            configurations = [name for name in names if name.endswith("/config.yml")]
            archive.extractall(unpacked, configurations)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.move(unpacked / TEMPLATES, folder)
    return len(configurations)


if __name__ == "__main__":
    count = fetch(sys.argv[1], Path(sys.argv[2]))
    if not count:
        sys.exit("The package has no labeling configurations.")
