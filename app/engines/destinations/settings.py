"""The settings of each type of destination, as JSON Schemas."""

from collections.abc import Mapping

from app.engines.sources import settings as sources
from app.engines.sources.settings import (
    Schema,
    build_secret_schema,
    build_settings_schema,
    build_text_schema,
)


def _replace_descriptions(schema: Schema, descriptions: Mapping[str, str]) -> Schema:
    """Return a copy of a schema with the given descriptions, by property."""
    properties = {
        name: {**rules, "description": descriptions.get(name, rules["description"])}
        for name, rules in schema["properties"].items()
    }
    return {**schema, "properties": properties}


S3 = _replace_descriptions(
    sources.S3,
    {
        "bucket": "Name of the bucket that receives the files.",
        "prefix": "Folder in the bucket; empty for its top level.",
        "access_key_id": "ID of an access key that may write to the folder (`s3:PutObject`).",
    },
)

SFTP = _replace_descriptions(
    sources.SFTP,
    {
        "path": (
            "Folder that receives the files: an absolute path, or a path below the home folder of "
            "the user. It must exist."
        ),
        "username": "User with permission to write to the folder.",
    },
)

HTTP = build_settings_schema(
    {
        "url": build_text_schema(
            "URL",
            "URL to which files are sent with PUT. `{name}` in its path or query stands for the "
            "name of the file; without `{name}`, each file replaces the previous file.",
            pattern=r"^https?://[^\s@/?#{}]+([/?][^\s@#]*)?$",
            maxLength=1024,
        ),
        "username": build_text_schema(
            "User name",
            "User for HTTP Basic authentication.",
            minLength=1,
            pattern=r"^[^:\x00-\x1f]+$",
        ),
        "password": build_secret_schema("Password", "Password of the user."),
        "token": build_secret_schema(
            "Token", "Bearer token, instead of a user name.", maxLength=8192, pattern=r"^[!-~]+$"
        ),
    },
    ("url",),
    dependentRequired={"username": ["password"], "password": ["username"]},
    allOf=[{"not": {"required": ["token", "username"]}}],
)
