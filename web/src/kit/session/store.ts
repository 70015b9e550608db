/**
 * The session: in memory and in sessionStorage, so that it ends with the tab. Tabs of the same
 * browser hand it to each other, and end it together.
 */
import { useSyncExternalStore } from 'react';
import type { Schemas } from '@/kit/api/types';

export interface Session {
  readonly token: string;
  readonly user: Schemas['UserSummary'];
  readonly organizations: readonly Schemas['OrganizationSummary'][];
}

type Message = { ask: true } | { session: Session } | { ended: true };

const KEY = 'session';
const HANDOVER_MILLISECONDS = 150;
const listeners = new Set<() => void>();
let session: Session | undefined;
let channel: BroadcastChannel | undefined;

export function readSession(): Session | undefined {
  return session;
}

function change(next: Session | undefined): void {
  if (next && !session) holdLock();
  session = next;
  if (next) sessionStorage.setItem(KEY, JSON.stringify(next));
  else sessionStorage.removeItem(KEY);
  for (const listener of listeners) listener();
}

/** Starts the session of a login, in all tabs that have none or one of the same user. */
export function startSession(login: Schemas['LoginResult']): Session {
  const next = {
    token: login.access_token,
    user: login.user,
    organizations: login.organizations,
  };
  change(next);
  channel?.postMessage({ session: next } satisfies Message);
  return next;
}

/** Replaces the user or the organizations, which other requests may have changed. */
export function updateSession(changes: Partial<Omit<Session, 'token'>>): void {
  if (session) change({ ...session, ...changes });
}

/** Forgets the session, here and in all other tabs. */
export function endSession(): void {
  change(undefined);
  channel?.postMessage({ ended: true } satisfies Message);
}

function receive(message: Message): void {
  if ('ask' in message) {
    if (session) channel?.postMessage({ session } satisfies Message);
  } else if ('ended' in message) {
    change(undefined);
  } else if (!session || session.user.id === message.session.user.id) {
    change(message.session);
  }
}

/** The browser's locks, which only pages of https and of this machine have. */
function findLocks(): LockManager | undefined {
  return (navigator as { locks?: LockManager }).locks;
}

/** Holds a lock as long as this tab is open, so that new tabs know that they can ask. */
function holdLock(): void {
  void findLocks()?.request(KEY, { mode: 'shared' }, () => new Promise<void>(() => undefined));
}

async function isSignedInElsewhere(): Promise<boolean> {
  const locks = findLocks();
  if (!locks) return true;
  const { held } = await locks.query();
  return held?.some((lock) => lock.name === KEY) ?? false;
}

/** Reads the session of this tab, or asks the other tabs for theirs. Called once at the start. */
export async function restoreSession(): Promise<void> {
  channel = new BroadcastChannel('session');
  channel.onmessage = (event: MessageEvent<Message>) => receive(event.data);
  const stored = sessionStorage.getItem(KEY);
  if (stored !== null) {
    change(JSON.parse(stored) as Session);
    return;
  }
  if (!(await isSignedInElsewhere())) return;
  channel.postMessage({ ask: true } satisfies Message);
  await new Promise<void>((resolve) => {
    const done = subscribe(() => {
      done();
      resolve();
    });
    setTimeout(resolve, HANDOVER_MILLISECONDS);
  });
}

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useSession(): Session | undefined {
  return useSyncExternalStore(subscribe, readSession);
}
