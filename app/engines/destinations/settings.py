"""The settings of each type of destination, as JSON Schemas."""

from collections.abc import Mapping

from app.engines.sources import settings as sources
from app.engines.sources.settings import Schema, build_schema, build_secret, build_text


def _describe_again(schema: Schema, descriptions: Mapping[str, str]) -> Schema:
    """Return the schema of a source with other descriptions of some properties."""
    properties = {
        name: {**rules, "description": descriptions.get(name, rules["description"])}
        for name, rules in schema["properties"].items()
    }
    return {**schema, "properties": properties}


S3 = _describe_again(
    sources.S3,
    {
        "bucket": "Name of the bucket that receives the files.",
        "prefix": "Folder in the bucket; empty for its top level.",
        "access_key_id": "Id of an access key that may write to the folder (`s3:PutObject`).",
    },
)

SFTP = _describe_again(
    sources.SFTP,
    {
        "path": (
            "Folder that receives the files: an absolute path, or a path below the home folder of "
            "the user. It must exist."
        ),
        "username": "User with permission to write to the folder.",
    },
)

HTTP = build_schema(
    {
        "url": build_text(
            "URL",
            "URL to which files are sent with PUT. `{name}` in its path or query stands for the "
            "name of the file; without it, each file replaces the one before.",
            pattern=r"^https?://[^\s@/?#{}]+([/?][^\s@#]*)?$",
            maxLength=1024,
        ),
        "username": build_text(
            "User name",
            "User for HTTP Basic authentication.",
            minLength=1,
            pattern=r"^[^:\x00-\x1f]+$",
        ),
        "password": build_secret("Password", "Password of the user."),
        "token": build_secret(
            "Token", "Bearer token, instead of a user name.", maxLength=8192, pattern=r"^[!-~]+$"
        ),
    },
    ("url",),
    dependentRequired={"username": ["password"], "password": ["username"]},
    allOf=[{"not": {"required": ["token", "username"]}}],
)
