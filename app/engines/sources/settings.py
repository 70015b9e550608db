"""Define the JSON Schemas for the settings of each source type."""

from collections.abc import Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]
# Control characters are not allowed, because line breaks would end a protocol command.
_SINGLE_LINE = r"^[^\u0000-\u001f\u007f]*$"
_ENDPOINT = r"^https?://[^\s?#@]+$"
_MAX_URLS = 1000


def build_text_schema(title: str, description: str, **rules: object) -> Schema:
    """Build the JSON Schema for a setting that is a line of text."""
    return {
        "type": "string",
        "title": title,
        "description": description,
        "maxLength": 1024,
        "pattern": _SINGLE_LINE,
        **rules,
    }


def build_secret_schema(title: str, description: str, **rules: object) -> Schema:
    """Build the JSON Schema for a secret: a line of text that is stored encrypted."""
    return build_text_schema(title, description, minLength=1, writeOnly=True, **rules)


def build_port_schema(default: int, description: str) -> Schema:
    """Build the JSON Schema for a port number."""
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
    """Build the JSON Schema for an object with settings.

    `required` contains names of settings, and `rules` are additional keywords of the schema.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
        **rules,
    }


def _build_prefix_schema(container: str) -> Schema:
    description = f"Folder in the {container}. Leave empty for the whole {container}."
    return build_text_schema("Folder", description)


def _build_key_file_schema(title: str, description: str, max_length: int) -> Schema:
    """Build the JSON Schema for a secret that may have more than one line."""
    return {
        "type": "string",
        "title": title,
        "description": description,
        "minLength": 1,
        "maxLength": max_length,
        "writeOnly": True,
    }


_HOST = build_text_schema(
    "Host",
    "Host name or IP address of the server, without the port.",
    minLength=1,
    maxLength=253,
    pattern=r"^[A-Za-z0-9._:-]+$",
)
_USERNAME = build_text_schema("User name", "User with read permission.", minLength=1, maxLength=255)
_PASSWORD = build_secret_schema("Password", "Password of the user.")
_CERTIFICATE: Schema = {
    "type": "string",
    "title": "CA certificate",
    "description": "CA certificates in PEM format, trusted in addition to the public CAs.",
    "maxLength": 65536,
}
_TLS: Schema = {
    "type": "boolean",
    "title": "TLS",
    "description": "Encrypt the connection. Without TLS, other people can read the data.",
    "default": True,
}

LOCAL = build_settings_schema(
    {
        "path": build_text_schema(
            "Folder",
            "Folder inside the folder that the operator allows. Leave empty for that whole folder.",
            maxLength=4096,
        )
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
        "prefix": _build_prefix_schema("bucket"),
        "region": build_text_schema(
            "Region",
            "Region of the bucket.",
            maxLength=64,
            pattern=r"^[A-Za-z0-9-]+$",
            default="us-east-1",
        ),
        "endpoint_url": build_text_schema(
            "Endpoint URL",
            "URL of an S3-compatible object store, such as MinIO. Leave empty for AWS.",
            pattern=_ENDPOINT,
        ),
        "access_key_id": build_text_schema(
            "Access key", "ID of the access key.", minLength=1, pattern=r"^[!-.0-~]+$"
        ),
        "secret_access_key": build_secret_schema("Secret key", "Secret for the access key."),
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
        "prefix": _build_prefix_schema("bucket"),
        "endpoint_url": build_text_schema(
            "Endpoint URL",
            "URL of a host that offers the Cloud Storage JSON API. Leave empty for Google.",
            pattern=_ENDPOINT,
        ),
        "service_account": _build_key_file_schema(
            "Service account key",
            "Key, in JSON format, for a service account that may read the bucket.",
            8192,
        ),
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
        "prefix": _build_prefix_schema("container"),
        "endpoint_url": build_text_schema(
            "Endpoint URL",
            "URL of the blob service, if it is not `https://ACCOUNT.blob.core.windows.net`.",
            pattern=_ENDPOINT,
        ),
        "account_key": build_secret_schema(
            "Key", "Key of the storage account.", pattern=r"^[A-Za-z0-9+/]+={0,2}$"
        ),
        "sas_token": build_secret_schema(
            "Signature",
            "Shared access signature with permission to list and read, instead of the account key.",
            pattern=r"^[!-~]+$",
        ),
    },
    ("account", "container"),
    oneOf=[{"required": ["account_key"]}, {"required": ["sas_token"]}],
)

HTTP_CREDENTIALS: Mapping[str, Schema] = {
    "username": build_text_schema(
        "User name", "User for HTTP Basic authentication.", minLength=1, pattern=r"^[^:\x00-\x1f]+$"
    ),
    "password": _PASSWORD,
    "token": build_secret_schema(
        "Token", "Bearer token, instead of a password.", maxLength=8192, pattern=r"^[!-~]+$"
    ),
}
HTTP_CREDENTIAL_RULES: Mapping[str, object] = {
    "dependentRequired": {"username": ["password"], "password": ["username"]},
    "allOf": [{"not": {"required": ["token", "username"]}}],
}
_URL = r"^https?://[^\s@]+$"
HTTP = build_settings_schema(
    {
        "url": build_text_schema(
            "Index page",
            "URL of an HTML page. Linked documents and folders below this URL are read.",
            pattern=_URL,
            maxLength=2048,
        ),
        "urls": {
            "type": "array",
            "title": "Documents",
            "description": "URLs of individual documents, instead of an index page.",
            "items": {"type": "string", "pattern": _URL, "maxLength": 2048},
            "minItems": 1,
            "maxItems": _MAX_URLS,
            "uniqueItems": True,
        },
        **HTTP_CREDENTIALS,
    },
    (),
    oneOf=[{"required": ["url"]}, {"required": ["urls"]}],
    **HTTP_CREDENTIAL_RULES,
)

SFTP = build_settings_schema(
    {
        "host": _HOST,
        "port": build_port_schema(22, "Port of the SSH server."),
        "path": build_text_schema(
            "Folder",
            "Absolute path, or a path relative to the home folder of the user.",
            maxLength=4096,
        ),
        "username": _USERNAME,
        "password": _PASSWORD,
        "private_key": _build_key_file_schema(
            "Private key", "Private key in OpenSSH or PEM format, instead of a password.", 32768
        ),
        "passphrase": build_secret_schema(
            "Passphrase", "Passphrase of the private key, if the key has a passphrase."
        ),
        "host_key": build_text_schema(
            "Host key",
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
            "Absolute path, or a path relative to the initial folder of the user.",
            maxLength=4096,
        ),
        "username": build_text_schema("User name", "User with read permission.", maxLength=255),
        "password": _PASSWORD,
        "tls": _TLS,
        "ca_certificate": _CERTIFICATE,
    },
    ("host", "username", "password"),
)

IMAP = build_settings_schema(
    {
        "host": _HOST,
        "port": build_port_schema(993, "Port of the server. Port 143 uses STARTTLS."),
        "folder": build_text_schema(
            "Folder", "Name of the folder in the mailbox.", minLength=1, default="INBOX"
        ),
        "username": _USERNAME,
        "password": _PASSWORD,
        "tls": _TLS,
        "ca_certificate": _CERTIFICATE,
    },
    ("host", "username", "password"),
)
