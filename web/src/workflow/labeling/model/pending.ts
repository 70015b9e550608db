/**
 * Changes that the service has not confirmed yet, in IndexedDB: they survive a closed tab, a lost
 * network and an ended session. Each user has their own, and so has each visit of a tag set: two
 * tabs do not overwrite what the other could not save.
 */
import { randomKey } from '@/kit/api/idempotency';
import { requireOrganization } from '@/kit/session/organization';
import { readSession } from '@/kit/session/store';
import type { LocalTag } from './tags';

export interface Pending {
  /** The revision that the changes are based on, and its tags. */
  readonly revision: number;
  readonly base: readonly LocalTag[];
  readonly tags: readonly LocalTag[];
  readonly at: string;
}

/** What one visit of a tag set keeps. */
export interface PendingStore {
  /** Takes over what was kept last by another visit; each is taken once. */
  take(): Promise<Pending | undefined>;
  write(pending: Pending): Promise<void>;
  remove(): Promise<void>;
  /** Also what other visits kept. */
  removeAll(): Promise<void>;
}

const DATABASE = 'workbench-labels';
const STORE = 'pending';

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

async function store(): Promise<IDBObjectStore> {
  opened ??= open();
  const database = await opened;
  return database.transaction(STORE, 'readwrite').objectStore(STORE);
}

/** Returns the store of a visit that begins now, in the organization and as the user of now. */
export function openPendingStore(tagSetId: string): PendingStore {
  // Either may be another one when something is kept: another organization was chosen, or the
  // session has ended.
  const prefix = [requireOrganization(), readSession()?.user.id ?? '', tagSetId].join('/');
  const own = `${prefix}/${randomKey()}`;
  // The bare prefix is what earlier versions wrote.
  const range = () => IDBKeyRange.bound(prefix, `${prefix}/\uffff`);
  return {
    async take() {
      // One transaction: another tab may be writing.
      const entries = await store();
      const [keys, values] = await Promise.all([
        promise(entries.getAllKeys(range())),
        promise(entries.getAll(range()) as IDBRequest<Pending[]>),
      ]);
      const times = values.map(({ at }) => at);
      const last = times.indexOf([...times].sort().at(-1) ?? '');
      const [key, pending] = [keys[last], values[last]];
      // Edits that were faster than this are newer than all others.
      if (key === undefined || !pending || keys.includes(own)) return undefined;
      await Promise.all([promise(entries.put(pending, own)), promise(entries.delete(key))]);
      return pending;
    },
    async write(pending) {
      await promise((await store()).put(pending, own));
    },
    async remove() {
      await promise((await store()).delete(own));
    },
    async removeAll() {
      await promise((await store()).delete(range()));
    },
  };
}
