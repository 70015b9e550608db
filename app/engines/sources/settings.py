"""The settings of each type of source, as JSON Schemas."""

from collections.abc import Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]
# No control characters, because they would end a command of a protocol.
_LINE = r"^[^\u0000-\u001f\u007f]*$"
_ENDPOINT = r"^https?://[^\s?#@]+$"
_MAX_URLS = 1000


def build_text_schema(title: str, description: str, **rules: object) -> Schema:
    """Return the schema of a line of text."""
    return {
        "type": "string",
        "title": title,
        "description": description,
        "maxLength": 1024,
        "pattern": _LINE,
        **rules,
    }


def build_secret_schema(title: str, description: str, **rules: object) -> Schema:
    """Return the schema of a line of text that is stored encrypted and never shown."""
    return build_text_schema(title, description, minLength=1, writeOnly=True, **rules)


def build_port_schema(default: int, description: str) -> Schema:
    """Return the schema of a port."""
    return {
        "type": "integer",
        "title": "Port",
        "description": description,
        "minimum": 1,
        "maximum": 65535,
        "default": default,
    }


def build_settings_schema(
    properties: Mapping[str, Schema], required: tuple[str, ...] = (), **rules: object
) -> Schema:
    """Return the schema of settings.

    Args:
        properties: the schemas of the settings by name.
        required: names of the required settings.
        rules: further keywords of the schema.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
        **rules,
    }


_HOST = build_text_schema(
    "Host",
    "Name or address of the server, without port.",
    minLength=1,
    maxLength=253,
    pattern=r"^[A-Za-z0-9._:-]+$",
)
_USERNAME = build_text_schema(
    "User name", "User with permission to read.", minLength=1, maxLength=255
)
_PASSWORD = build_secret_schema("Password", "Password of the user.")
_CERTIFICATE: Schema = {
    "type": "string",
    "title": "Certificate of the authority",
    "description": "PEM certificates that are trusted in addition to the public authorities.",
    "maxLength": 65536,
}

LOCAL = build_settings_schema(
    {
        "path": build_text_schema(
            "Folder",
            "Folder inside the operator's folder; empty for the operator's folder itself.",
            maxLength=4096,
        ),
    }
)

S3 = build_settings_schema(
    {
        "bucket": build_text_schema(
            "Bucket",
            "Name of the bucket.",
            minLength=3,
            maxLength=255,
            pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]+$",
        ),
        "prefix": build_text_schema("Folder", "Folder in the bucket; empty for the whole bucket."),
        "region": build_text_schema(
            "Region",
            "Region of the bucket.",
            maxLength=64,
            pattern=r"^[A-Za-z0-9-]+$",
            default="us-east-1",
        ),
        "endpoint_url": build_text_schema(
            "URL of the endpoint",
            "URL of an S3-compatible object store, such as MinIO; empty for AWS.",
            pattern=_ENDPOINT,
        ),
        "access_key_id": build_text_schema(
            "Access key", "ID of the access key.", minLength=1, pattern=r"^[!-.0-~]+$"
        ),
        "secret_access_key": build_secret_schema("Secret key", "Secret of the access key."),
    },
    ("bucket", "access_key_id", "secret_access_key"),
)

GCS = build_settings_schema(
    {
        "bucket": build_text_schema(
            "Bucket",
            "Name of the bucket.",
            minLength=3,
            maxLength=222,
            pattern=r"^[a-z0-9][a-z0-9._-]+$",
        ),
        "prefix": build_text_schema("Folder", "Folder in the bucket; empty for the whole bucket."),
        "endpoint_url": build_text_schema(
            "URL of the endpoint",
            "URL of a host with the JSON API of Cloud Storage; empty for Google.",
            pattern=_ENDPOINT,
        ),
        "service_account": {
            "type": "string",
            "title": "Key of the service account",
            "description": "Key in JSON format of a service account that may read the bucket.",
            "minLength": 1,
            "maxLength": 8192,
            "writeOnly": True,
        },
    },
    ("bucket", "service_account"),
)

AZURE = build_settings_schema(
    {
        "account": build_text_schema(
            "Account",
            "Name of the storage account.",
            minLength=3,
            maxLength=24,
            pattern=r"^[a-z0-9]+$",
        ),
        "container": build_text_schema(
            "Container",
            "Name of the container.",
            minLength=3,
            maxLength=63,
            pattern=r"^[a-z0-9$][a-z0-9-]+$",
        ),
        "prefix": build_text_schema(
            "Folder", "Folder in the container; empty for the whole container."
        ),
        "endpoint_url": build_text_schema(
            "URL of the endpoint",
            "URL of the account's blobs, if not `https://ACCOUNT.blob.core.windows.net`.",
            pattern=_ENDPOINT,
        ),
        "account_key": build_secret_schema(
            "Key", "Key of the storage account.", pattern=r"^[A-Za-z0-9+/]+={0,2}$"
        ),
        "sas_token": build_secret_schema(
            "Signature",
            "Shared access signature with permission to list and read, instead of the key.",
            pattern=r"^[!-~]+$",
        ),
    },
    ("account", "container"),
    oneOf=[{"required": ["account_key"]}, {"required": ["sas_token"]}],
)

_URL = r"^https?://[^\s@]+$"
HTTP = build_settings_schema(
    {
        "url": build_text_schema(
            "Index page",
            "URL of an HTML page. The documents and folders below it that it links to are read.",
            pattern=_URL,
            maxLength=2048,
        ),
        "urls": {
            "type": "array",
            "title": "Documents",
            "description": "URLs of single documents, instead of an index page.",
            "items": {"type": "string", "pattern": _URL, "maxLength": 2048},
            "minItems": 1,
            "maxItems": _MAX_URLS,
            "uniqueItems": True,
        },
        "username": build_text_schema(
            "User name",
            "User for HTTP Basic authentication.",
            minLength=1,
            pattern=r"^[^:\x00-\x1f]+$",
        ),
        "password": _PASSWORD,
        "token": build_secret_schema(
            "Token", "Bearer token, instead of a user name.", maxLength=8192, pattern=r"^[!-~]+$"
        ),
    },
    oneOf=[{"required": ["url"]}, {"required": ["urls"]}],
    dependentRequired={"username": ["password"], "password": ["username"]},
    allOf=[{"not": {"required": ["token", "username"]}}],
)

SFTP = build_settings_schema(
    {
        "host": _HOST,
        "port": build_port_schema(22, "Port of the SSH server."),
        "path": build_text_schema(
            "Folder", "Absolute path, or a path below the home folder of the user.", maxLength=4096
        ),
        "username": _USERNAME,
        "password": _PASSWORD,
        "private_key": {
            "type": "string",
            "title": "Private key",
            "description": "Private key in OpenSSH or PEM format, instead of a password.",
            "minLength": 1,
            "maxLength": 32768,
            "writeOnly": True,
        },
        "passphrase": build_secret_schema(
            "Passphrase", "Passphrase of the private key, if the key has a passphrase."
        ),
        "host_key": build_text_schema(
            "Key of the host",
            "Public key of the server (`ssh-ed25519 AAAA…`) or its fingerprint (`SHA256:…`).",
            maxLength=8192,
            pattern=r"^(SHA256:[A-Za-z0-9+/]{43}=?|[a-z0-9@.-]+ [A-Za-z0-9+/]+={0,3}( [ -~]*)?)$",
        ),
    },
    ("host", "username", "host_key"),
    oneOf=[{"required": ["password"]}, {"required": ["private_key"]}],
    dependentRequired={"passphrase": ["private_key"]},
)

FTP = build_settings_schema(
    {
        "host": _HOST,
        "port": build_port_schema(21, "Port of the server. Port 990 uses TLS from the beginning."),
        "path": build_text_schema(
            "Folder",
            "Absolute path, or a path below the folder in which the user starts.",
            maxLength=4096,
        ),
        "username": build_text_schema("User name", "User with permission to read.", maxLength=255),
        "password": _PASSWORD,
        "tls": {
            "type": "boolean",
            "title": "TLS",
            "description": "Encrypt the connection. Otherwise anybody can read the data.",
            "default": True,
        },
        "ca_certificate": _CERTIFICATE,
    },
    ("host", "username", "password"),
)

IMAP = build_settings_schema(
    {
        "host": _HOST,
        "port": build_port_schema(
            993, "Port of the server. Port 143 changes to TLS with STARTTLS."
        ),
        "folder": build_text_schema(
            "Folder", "Name of the folder in the mailbox.", minLength=1, default="INBOX"
        ),
        "username": _USERNAME,
        "password": _PASSWORD,
        "tls": {
            "type": "boolean",
            "title": "TLS",
            "description": "Encrypt the connection. Otherwise anybody can read the data.",
            "default": True,
        },
        "ca_certificate": _CERTIFICATE,
    },
    ("host", "username", "password"),
)
