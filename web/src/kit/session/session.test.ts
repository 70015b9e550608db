import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { chooseOrganization } from './choosing';
import { joinPath, splitPath } from './organization';
import { roleMay } from './may';
import { continueWith, renewSession } from './renewal';
import { endSession, readSession, startSession } from './store';

function fakeStorage() {
  const values = new Map<string, string>();
  return {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  };
}

const user = { id: '1', email: 'ada@example.com', name: 'Ada' };
const organizations = ['one', 'two'].map((slug) => ({ slug, name: slug, role: 'viewer' as const }));
const login = (token: string) => ({
  access_token: token,
  token_type: 'bearer',
  expires_in: 60,
  user,
  organizations,
});

beforeEach(() => {
  vi.stubGlobal('localStorage', fakeStorage());
  vi.stubGlobal('sessionStorage', fakeStorage());
});
afterEach(() => {
  endSession();
  vi.unstubAllGlobals();
});

test.each([
  ['/o/demo', 'demo', '/'],
  ['/o/demo/documents/7', 'demo', '/documents/7'],
  ['/o/a%20b/', 'a b', '/'],
  ['/sign-in', undefined, '/sign-in'],
  ['/other/o/demo', undefined, '/other/o/demo'],
])('splitPath %s', (path, slug, rest) => {
  expect(splitPath(path)).toEqual({ slug, path: rest });
});

test('joinPath is the reverse of splitPath', () => {
  expect(splitPath(joinPath('a/b', '/documents'))).toEqual({ slug: 'a/b', path: '/documents' });
});

test('a role has its own permissions and those of lower roles', () => {
  expect(roleMay('viewer', 'artifacts:claim')).toBe(false);
  expect(roleMay('labeler', 'artifacts:claim')).toBe(true);
  expect(roleMay('owner', 'artifacts:claim')).toBe(true);
  expect(roleMay('unknown', 'artifacts:read')).toBe(false);
});

test('the organization of the address is chosen, else the last one, else the only one', () => {
  const session = { token: 't', user, organizations };
  expect(chooseOrganization(session, 'two')).toBe('two');
  expect(chooseOrganization(session, 'foreign')).toBeUndefined();
  localStorage.setItem('organization', 'one');
  expect(chooseOrganization(session, undefined)).toBe('one');
  localStorage.setItem('organization', 'left');
  expect(chooseOrganization(session, undefined)).toBeUndefined();
  expect(
    chooseOrganization({ ...session, organizations: organizations.slice(0, 1) }, undefined),
  ).toBe('one');
});

test('all requests that fail wait for the same new token', async () => {
  startSession(login('old'));
  const [first, second] = [renewSession('old'), renewSession('old')];
  expect(first).toBe(second);
  startSession(login('new'));
  expect(await first).toBe(true);
});

test('without a new token, they fail', async () => {
  startSession(login('old'));
  const renewed = renewSession('old');
  endSession();
  expect(await renewed).toBe(false);
});

test('the session of another account is closed, and what waits goes on waiting', async () => {
  const requests: Request[] = [];
  vi.stubGlobal('fetch', (path: string, options: RequestInit) => {
    requests.push(new Request(new URL(path, 'http://service'), options));
    return Promise.resolve(new Response(null, { status: 204 }));
  });
  startSession(login('old'));
  const renewed = renewSession('old');
  const other = { ...login('foreign'), user: { ...user, id: '2' } };
  expect(await continueWith(other)).toBe(false);
  expect(readSession()?.token).toBe('old');
  expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'POST http://service/api/v1/auth/logout',
  ]);
  expect(requests[0]?.headers.get('Authorization')).toBe('Bearer foreign');
  expect(await continueWith(login('new'))).toBe(true);
  expect(await renewed).toBe(true);
  expect(requests).toHaveLength(1);
});

test('a request that was sent before the session was renewed does not ask again', async () => {
  startSession(login('new'));
  expect(await renewSession('old')).toBe(true);
  endSession();
  expect(await renewSession('old')).toBe(false);
});
