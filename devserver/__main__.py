"""The command line: `python -m devserver run | status | env | backup | restore | …`."""

import argparse
import os
import signal
import sys
from pathlib import Path


def main() -> int:
    """Run one command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m devserver", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="start the whole service and keep it running")
    run.add_argument(
        "--with-parent",
        action="store_true",
        help="stop when the parent process (make) has ended",
    )
    commands.add_parser("status", help="show the processes of the running service and their memory")
    commands.add_parser(
        "env", help="print the environment of the running service as shell commands"
    )
    migration = commands.add_parser(
        "migration", help="write a migration from changes to the models"
    )
    migration.add_argument("message")
    commands.add_parser(
        "prepare", help="migrate the database, and load the demo data if it is empty"
    )
    backup = commands.add_parser(
        "backup", help="copy the data of the running service to a new folder"
    )
    backup.add_argument("folder", type=Path)
    backup.add_argument(
        "--database-url", help="URL of an external database for a role with BYPASSRLS"
    )
    restore = commands.add_parser("restore", help="restore a backup into a new DATA_DIR")
    restore.add_argument("folder", type=Path)
    return _dispatch(parser.parse_args())


def _dispatch(arguments: argparse.Namespace) -> int:
    """Run the command. Import only the modules it needs, so that the supervisor stays small."""
    match arguments.command:
        case "run":
            from devserver.run import run  # noqa: PLC0415

            if arguments.with_parent:
                from app.kit.process_lifetime import die_with_parent  # noqa: PLC0415

                die_with_parent(os.getppid(), signal.SIGTERM)
            return run(os.environ)
        case "status":
            from devserver.status import print_status  # noqa: PLC0415

            return print_status(os.environ)
        case "env":
            from devserver.status import print_environment  # noqa: PLC0415

            return print_environment(os.environ)
        case "backup" | "restore":
            return _back_up_or_restore(arguments)
        case "migration":
            from devserver.migration import write_migration  # noqa: PLC0415

            return write_migration(arguments.message)
        case _:
            from devserver.prepare import main as prepare  # noqa: PLC0415

            return prepare()


def _back_up_or_restore(arguments: argparse.Namespace) -> int:
    if arguments.command == "backup":
        from devserver.backup import backup  # noqa: PLC0415

        return backup(os.environ, arguments.folder, arguments.database_url)
    from devserver.restore import restore  # noqa: PLC0415

    return restore(os.environ, arguments.folder)


if __name__ == "__main__":
    sys.exit(main())
