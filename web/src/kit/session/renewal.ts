/**
 * What happens when the token has expired: a dialog asks for the password over the page, and the
 * request that failed is sent again. Nothing on the page is lost.
 */
import { useSyncExternalStore } from 'react';
import type { Schemas } from '@/kit/api/types';
import { basePath } from '@/kit/environment';
import { readSession, startSession, subscribe } from './store';

const listeners = new Set<() => void>();
let running: Promise<boolean> | undefined;

function notify(): void {
  for (const listener of listeners) listener();
}

/**
 * Asks the user to sign in again, unless `ended`, the token of a request that was refused, is no
 * longer that of the session. Resolves to whether there is a new token, which may come from another
 * tab.
 */
export function renewSession(ended: string | undefined): Promise<boolean> {
  if (running) return running;
  const current = readSession()?.token;
  if (current !== ended) return Promise.resolve(current !== undefined);
  running = new Promise<boolean>((resolve) => {
    const stop = subscribe(() => {
      const session = readSession();
      if (session?.token === ended) return;
      stop();
      running = undefined;
      notify();
      resolve(session !== undefined);
    });
  });
  notify();
  return running;
}

/**
 * Goes on with the session of a login. What waits for the new token must not be sent as somebody
 * else: a session of another account is closed at once. Returns whether it is the same account.
 */
export async function continueWith(login: Schemas['LoginResult']): Promise<boolean> {
  if (login.user.id === readSession()?.user.id) {
    startSession(login);
    return true;
  }
  const headers = { Authorization: `Bearer ${login.access_token}` };
  const path = `${basePath}/api/v1/auth/logout`;
  await fetch(path, { method: 'POST', headers, keepalive: true }).catch(() => undefined);
  return false;
}

/** Whether the dialog is open. */
export function useRenewal(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => running !== undefined,
  );
}
