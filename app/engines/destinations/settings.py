"""Define the JSON Schemas for the settings of each destination type."""

from collections.abc import Mapping

from app.engines.sources import settings as sources
from app.engines.sources.settings import Schema, build_settings_schema, build_text_schema


def _replace_descriptions(schema: Schema, descriptions: Mapping[str, str]) -> Schema:
    """Return a copy of a schema with new descriptions for the properties in `descriptions`."""
    properties = {
        name: {**rules, "description": descriptions.get(name, rules["description"])}
        for name, rules in schema["properties"].items()
    }
    return {**schema, "properties": properties}


S3 = _replace_descriptions(
    sources.S3,
    {
        "bucket": "Name of the bucket that receives the files.",
        "prefix": "Folder in the bucket. Leave empty for the top level.",
        "access_key_id": "ID of an access key that may write to the folder (`s3:PutObject`).",
    },
)

SFTP = _replace_descriptions(
    sources.SFTP,
    {
        "path": (
            "Folder that receives the files: an absolute path, or a path relative to the home "
            "folder of the user. The folder must exist."
        ),
        "username": "User with permission to write to the folder.",
    },
)

HTTP = build_settings_schema(
    {
        "url": build_text_schema(
            "URL",
            "URL to which files are sent with PUT. `{name}` in the path or query is replaced with "
            "the name of the file. Without `{name}`, each file replaces the previous file.",
            pattern=r"^https?://[^\s@/?#{}]+([/?][^\s@#]*)?$",
            maxLength=1024,
        ),
        **sources.HTTP_CREDENTIALS,
    },
    ("url",),
    **sources.HTTP_CREDENTIAL_RULES,
)
