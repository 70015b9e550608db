"""Commands for the operator, such as `flask org …`, `flask user …` and `flask keys rotate`.

Commands call the same services as the API. `docs/operators/commands.md` documents all commands.
"""

from flask import Flask

from app.commands import (
    artifacts,
    audit,
    billing,
    check,
    extraction,
    imports,
    jobs,
    keys,
    mail,
    organizations,
    rebuilding,
    routing,
    sso,
    users,
    webhooks,
)

COMMAND_GROUPS = (
    organizations.group,
    users.group,
    keys.group,
    audit.group,
    sso.group,
    mail.group,
    billing.group,
    routing.group,
    rebuilding.counts,
    rebuilding.quality,
    rebuilding.feedback,
    jobs.group,
    artifacts.group,
    webhooks.group,
    extraction.group,
)


def init(app: Flask) -> None:
    """Register every command on `app`."""
    for group in COMMAND_GROUPS:
        app.cli.add_command(group)
    # The singular is an alias, because users may expect it.
    app.cli.add_command(webhooks.group, name="webhook")
    app.cli.add_command(imports.import_file)
    app.cli.add_command(imports.crawl)
    app.cli.add_command(check.check)
