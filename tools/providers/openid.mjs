// A real OpenID provider on loopback for the tests: npm's oidc-provider with its own login pages.
//
// Standard input: one line of JSON {host, callback}; at its end the provider ends. The redirect URI
// of every organization is registered: the callback with the query `org=<slug>`.
// Standard output: one line, the issuer. Whoever logs in says who they are: the login is a query
// string of claims (sub, email, email_verified, name, groups), as no directory stands behind it.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import Provider from 'oidc-provider';

function key(kind, options, algorithm) {
  const { privateKey } = generateKeyPairSync(kind, options);
  const kid = `${algorithm}-${randomBytes(4).toString('hex')}`;
  return { ...privateKey.export({ format: 'jwk' }), kid, alg: algorithm, use: 'sig' };
}

function account(_context, id) {
  const told = new URLSearchParams(id);
  const claims = { sub: id, email: told.get('email'), name: told.get('name') };
  if (told.has('email_verified')) claims.email_verified = told.get('email_verified') === 'true';
  if (told.has('groups')) claims.groups = told.get('groups').split(',').filter(Boolean);
  return { accountId: id, claims: () => claims };
}

function client(id, callback, settings) {
  return { client_id: id, redirect_uris: [callback], response_types: ['code'],
    grant_types: ['authorization_code'], subject_type: 'pairwise', ...settings };
}

function configuration(callback) {
  const secret = 'a secret: with % and + in it';
  return {
    clients: [
      client('basic', callback, { client_secret: secret }),
      client('post', callback,
        { client_secret: secret, token_endpoint_auth_method: 'client_secret_post' }),
      client('public', callback, { token_endpoint_auth_method: 'none' }),
      client('elliptic', callback,
        { client_secret: secret, id_token_signed_response_alg: 'ES256' }),
    ],
    findAccount: account,
    // The subject is what the login says; the rest of it may be another one each time.
    subjectTypes: ['pairwise'],
    pairwiseIdentifier: (_context, id) => new URLSearchParams(id).get('sub'),
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    jwks: { keys: [key('rsa', { modulusLength: 2048 }, 'RS256'),
      key('ec', { namedCurve: 'P-256' }, 'ES256')] },
    enabledJWA: { idTokenSigningAlgValues: ['RS256', 'ES256'] },
    cookies: { keys: [randomBytes(32).toString('hex')] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: true } },
  };
}

const lines = createInterface({ input: process.stdin });
lines.once('line', (line) => {
  const { host, callback } = JSON.parse(line);
  const server = createServer();
  server.listen(0, host, () => {
    const issuer = `http://${host}:${server.address().port}`;
    const provider = new Provider(issuer, configuration(callback));
    provider.Client.prototype.redirectUriAllowed = (uri) =>
      uri.startsWith(`${callback}?org=`) && /^[a-z0-9-]+$/.test(uri.slice(callback.length + 5));
    server.on('request', provider.callback());
    process.stdout.write(`${issuer}\n`);
  });
});
lines.once('close', () => process.exit(0));
