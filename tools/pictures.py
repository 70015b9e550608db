"""`make pictures`: take the screenshots for docs/guides/workbench.md of the built workbench."""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "guides" / "workbench" / "pictures"
_QUALITY = 80
sys.path.insert(0, str(ROOT))


def main() -> None:
    """Start a service with the demo organization, and replace the screenshots in `FOLDER`."""
    from tests.factories.processes import SHARED  # noqa: PLC0415 - needs ROOT in sys.path
    from tests.faults.conftest import run_service  # noqa: PLC0415
    from tests.workbench.driver import TOOLS, Walker  # noqa: PLC0415

    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory(prefix="labeling-pictures-") as name:
        os.environ[SHARED] = name
        with run_service(RATE_LIMITS="off", WORKBENCH="on") as service:
            walker = Walker(service.base, service.password, service.data_dir / "mail", Path(name))
            try:
                walker.walk(TOOLS / "guide.mjs", "take", folder=name)
            finally:
                walker.close()
        for path in sorted(Path(name).glob("*.png")):
            with Image.open(path) as picture:
                picture.save(FOLDER / f"{path.stem}.webp", quality=_QUALITY, method=6)


if __name__ == "__main__":
    main()
