/**
 * Settings of destinations, as the description of `ExportDestination` names them. The service
 * validates them; its API has no list of destinations with their schemas yet.
 */
const SECRET = { type: 'string', maxLength: 1024, writeOnly: true };
const TEXT = { type: 'string' };
const LONG_SECRET = { type: 'string', maxLength: 32768, writeOnly: true };

export const KINDS = ['download', 's3', 'sftp', 'http'] as const;
export type DestinationKind = (typeof KINDS)[number];

export const SETTINGS: Record<Exclude<DestinationKind, 'download'>, object> = {
  s3: {
    properties: {
      bucket: TEXT,
      prefix: TEXT,
      region: { ...TEXT, default: 'us-east-1' },
      endpoint_url: TEXT,
      access_key_id: TEXT,
      secret_access_key: SECRET,
    },
    required: ['bucket', 'access_key_id', 'secret_access_key'],
  },
  sftp: {
    properties: {
      host: TEXT,
      port: { type: 'integer', minimum: 1, maximum: 65535, default: 22 },
      path: TEXT,
      username: TEXT,
      password: SECRET,
      private_key: LONG_SECRET,
      passphrase: SECRET,
      host_key: TEXT,
    },
    required: ['host', 'username', 'host_key'],
    oneOf: [{ required: ['password'] }, { required: ['private_key'] }],
    dependentRequired: { passphrase: ['private_key'] },
  },
  http: {
    properties: { url: TEXT, username: TEXT, password: SECRET, token: SECRET },
    required: ['url'],
    dependentRequired: { username: ['password'], password: ['username'] },
  },
};

/** Texts of settings that differ from those of connectors. */
export const CONTEXTS = { s3: 's3', sftp: 'to_sftp', http: 'to_http' } as const;
