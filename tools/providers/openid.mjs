// Run a real OpenID provider for the tests: npm's oidc-provider with its own login pages.
//
// Standard input is one line of JSON {host, callback}. The provider exits when standard input ends.
// The redirect URI of every organization is accepted: the callback with the query `org=<slug>`.
// Standard output is one line with the issuer. The provider has no user directory. The login name
// is a query string of the user's claims: sub, email, email_verified, name and groups.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import Provider from 'oidc-provider';

function generateKey(type, options, algorithm) {
  const { privateKey } = generateKeyPairSync(type, options);
  const kid = `${algorithm}-${randomBytes(4).toString('hex')}`;
  return { ...privateKey.export({ format: 'jwk' }), kid, alg: algorithm, use: 'sig' };
}

function findAccount(_context, id) {
  const login = new URLSearchParams(id);
  const claims = { sub: id, email: login.get('email'), name: login.get('name') };
  if (login.has('email_verified')) claims.email_verified = login.get('email_verified') === 'true';
  if (login.has('groups')) claims.groups = login.get('groups').split(',').filter(Boolean);
  return { accountId: id, claims: () => claims };
}

function buildClient(id, callback, settings) {
  return { client_id: id, redirect_uris: [callback], response_types: ['code'],
    grant_types: ['authorization_code'], subject_type: 'pairwise', ...settings };
}

function buildConfiguration(callback) {
  const secret = 'a secret: with % and + in it';
  return {
    clients: [
      buildClient('basic', callback, { client_secret: secret }),
      buildClient('post', callback,
        { client_secret: secret, token_endpoint_auth_method: 'client_secret_post' }),
      buildClient('public', callback, { token_endpoint_auth_method: 'none' }),
      buildClient('elliptic', callback,
        { client_secret: secret, id_token_signed_response_alg: 'ES256' }),
    ],
    findAccount,
    // The subject is the claim `sub` of the login. The other claims may differ at each login.
    subjectTypes: ['pairwise'],
    pairwiseIdentifier: (_context, id) => new URLSearchParams(id).get('sub'),
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    jwks: { keys: [generateKey('rsa', { modulusLength: 2048 }, 'RS256'),
      generateKey('ec', { namedCurve: 'P-256' }, 'ES256')] },
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
    const provider = new Provider(issuer, buildConfiguration(callback));
    provider.Client.prototype.redirectUriAllowed = (uri) =>
      uri.startsWith(`${callback}?org=`) && /^[a-z0-9-]+$/.test(uri.slice(callback.length + 5));
    server.on('request', provider.callback());
    process.stdout.write(`${issuer}\n`);
  });
});
lines.once('close', () => process.exit(0));
