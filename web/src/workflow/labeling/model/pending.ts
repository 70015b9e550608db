/**
 * Changes that the service has not confirmed yet, in IndexedDB: they survive a closed tab, a lost
 * network and an ended session. Each user has their own.
 */
import { currentOrganization } from '@/kit/session/organization';
import { readSession } from '@/kit/session/store';
import type { LocalTag } from './tags';

export interface Pending {
  readonly tagSetId: string;
  /** The revision that the changes are based on, and its tags. */
  readonly revision: number;
  readonly base: readonly LocalTag[];
  readonly tags: readonly LocalTag[];
  readonly at: string;
}

export interface PendingStore {
  read(tagSetId: string): Promise<Pending | undefined>;
  write(pending: Pending): Promise<void>;
  remove(tagSetId: string): Promise<void>;
}

const DATABASE = 'workbench-labels';
const STORE = 'pending';

function keyOf(tagSetId: string): string {
  return [currentOrganization() ?? '', readSession()?.user.id ?? '', tagSetId].join('/');
}

function promise<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('IndexedDB failed.'));
  });
}

let opened: Promise<IDBDatabase> | undefined;

function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  return promise(request);
}

async function store(mode: IDBTransactionMode): Promise<IDBObjectStore> {
  opened ??= open();
  const database = await opened;
  return database.transaction(STORE, mode).objectStore(STORE);
}

export const pendingStore: PendingStore = {
  async read(tagSetId) {
    const stored = await store('readonly');
    return promise(stored.get(keyOf(tagSetId)) as IDBRequest<Pending | undefined>);
  },
  async write(pending) {
    // The key is taken now: the session may have ended when the database answers.
    const key = keyOf(pending.tagSetId);
    await promise((await store('readwrite')).put(pending, key));
  },
  async remove(tagSetId) {
    const key = keyOf(tagSetId);
    await promise((await store('readwrite')).delete(key));
  },
};
