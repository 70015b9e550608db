"""Define the database functions that format values for the audit log and create entry ids."""

MAX_VALUE_BYTES = 2048
"""The maximum size of a logged value in bytes; the log shows a larger value's size and SHA-256."""

# JSON members with these names contain secrets; `audit_redacted` replaces their values.
_NAMES_OF_SECRETS = "(passwords?|secrets?|tokens?|api_?keys?|private_?keys?|credentials?)"
_SECRET_MEMBER = f"{_NAMES_OF_SECRETS}(_hash|_encrypted)?$"
# JSON is only parsed if it contains one of these words. Searching for them takes a tenth of the
# time of parsing.
_SECRET_WORDS = ("password", "secret", "token", "apikey", "api_key", "privatekey", "private_key")
_SECRET_WORDS += ("credential",)
_HAS_SECRET_WORD = " OR ".join(f"strpos(lower(written), '{word}') > 0" for word in _SECRET_WORDS)
_MAX_LEVEL = 20

# `audit_id` returns a UUIDv7 (RFC 9562, section 5.7) for a time in microseconds since the epoch.
ID_FUNCTION = """
CREATE FUNCTION audit_id(tick bigint) RETURNS uuid LANGUAGE sql VOLATILE AS $$
    SELECT encode(overlay(uuid_send(gen_random_uuid()) PLACING
        int8send(tick / 1000 * 65536 + 28672 + mod(tick, 1000) * 4096 / 1000) FROM 1 FOR 8),
        'hex')::uuid
$$
"""
# `audit_redacted` returns JSON in which {"secret": true} replaces the strings, objects and arrays
# of members whose names indicate a secret. It also replaces everything below the maximum level.
REDACTED_FUNCTION = f"""
CREATE FUNCTION audit_redacted(value jsonb, level int) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF level > {_MAX_LEVEL} THEN
        RETURN '{{"secret": true}}';
    ELSIF jsonb_typeof(value) = 'object' THEN
        RETURN (SELECT coalesce(jsonb_object_agg(m.name, CASE
                WHEN m.name ~* '{_SECRET_MEMBER}'
                    AND jsonb_typeof(m.held) IN ('string', 'object', 'array')
                THEN '{{"secret": true}}' ELSE audit_redacted(m.held, level + 1) END), '{{}}')
            FROM jsonb_each(value) AS m (name, held));
    ELSIF jsonb_typeof(value) = 'array' THEN
        RETURN (SELECT coalesce(jsonb_agg(audit_redacted(m.held, level + 1) ORDER BY m.place), '[]')
            FROM jsonb_array_elements(value) WITH ORDINALITY AS m (held, place));
    END IF;
    RETURN value;
END $$
"""  # noqa: S608 - consists of constants
# `audit_shown` returns the JSON text that the log contains for a value: redacted, or only the size
# and SHA-256 of a large value.
SHOWN_FUNCTION = f"""
CREATE FUNCTION audit_shown(written text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF octet_length(written) > {MAX_VALUE_BYTES} THEN
        RETURN json_build_object(
            'sha256', encode(sha256(convert_to(written, 'UTF8')), 'hex'),
            'bytes', octet_length(written));
    ELSIF left(written, 1) IN ('{{', '[') AND ({_HAS_SECRET_WORD}) THEN
        RETURN CAST(audit_redacted(CAST(written AS jsonb), 1) AS text);
    END IF;
    RETURN coalesce(written, 'null');
END $$
"""
