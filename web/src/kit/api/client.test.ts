import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { endSession, startSession } from '@/kit/session/store';
import { send } from './client';

const SERVICE = 'http://service/api/v1';
const storage = { setItem: () => undefined, removeItem: () => undefined, getItem: () => null };
const login = (token: string) => ({
  access_token: token,
  token_type: 'bearer',
  expires_in: 60,
  user: { id: '1', email: 'ada@example.com', name: 'Ada' },
  organizations: [],
});

/** A service whose tokens begin with the name of its key; all passwords are wrong. */
function fakeService(key: string) {
  const calls: string[] = [];
  vi.stubGlobal('fetch', (input: Request | URL, options?: RequestInit) => {
    const request = new Request(input, options);
    calls.push(request.url.slice(SERVICE.length));
    const isKnown = request.headers.get('Authorization')?.startsWith(`Bearer ${key}`) === true;
    const isWrong = !isKnown || request.url.endsWith('/close') || request.url.endsWith('/login');
    const error = { code: 'invalid_credentials', message: 'No.' };
    return Promise.resolve(isWrong ? Response.json({ error }, { status: 401 }) : new Response());
  });
  return calls;
}

const request = (path: string, method = 'POST') =>
  new Request(`${SERVICE}${path}`, { method, headers: { Authorization: 'Bearer first-1' } });

beforeEach(() => {
  vi.stubGlobal('localStorage', storage);
  vi.stubGlobal('sessionStorage', storage);
  startSession(login('first-1'));
});
afterEach(() => {
  endSession();
  vi.unstubAllGlobals();
});

test.each(['/artifacts', '/auth/session'])(
  'a token that the service no longer knows is renewed for %s',
  async (path) => {
    fakeService('second');
    const sent = send(request(path, 'GET'));
    setTimeout(() => startSession(login('second-1')));
    expect((await sent).status).toBe(200);
  },
);

test.each([
  ['/organizations/one/close', ['/organizations/one/close', '/auth/session']],
  ['/auth/login', ['/auth/login']],
])('a wrong password does not end the session: %s', async (path, expected) => {
  const calls = fakeService('first');
  expect((await send(request(path))).status).toBe(401);
  expect(calls).toEqual(expected);
});
