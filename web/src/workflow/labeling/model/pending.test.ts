import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { setCurrentOrganization } from '@/kit/session/organization';
import { openPendingStore, type Pending } from './pending';
import type { LocalTag } from './tags';

type Range = { from: string; to: string };

/** The part of IndexedDB that is used; each request is answered a while later. */
function fakeDatabase() {
  const entries = new Map<string, unknown>();
  const answer = (result: unknown) => {
    const request = { result, onsuccess: () => undefined };
    queueMicrotask(() => request.onsuccess());
    return request;
  };
  const within = ({ from, to }: Range) =>
    [...entries.keys()].filter((key) => key >= from && key <= to).sort();
  const objectStore = () => ({
    getAllKeys: (range: Range) => answer(within(range)),
    getAll: (range: Range) => answer(within(range).map((key) => entries.get(key))),
    put: (value: unknown, key: string) => answer(entries.set(key, value)),
    delete: (key: string | Range) => {
      const keys = typeof key === 'string' ? [key] : within(key);
      return answer(keys.map((one) => entries.delete(one)));
    },
  });
  vi.stubGlobal('indexedDB', { open: () => answer({ transaction: () => ({ objectStore }) }) });
  vi.stubGlobal('IDBKeyRange', { bound: (from: string, to: string): Range => ({ from, to }) });
  return entries;
}

const pending = (text: string, minute: number): Pending => ({
  revision: 1,
  base: [],
  tags: [{ value: text } as LocalTag],
  at: `2026-01-01T00:0${minute}:00Z`,
});
const textOf = (kept: Pending | undefined) => kept?.tags[0]?.value;
const entries = fakeDatabase();

beforeEach(() => {
  vi.stubGlobal('localStorage', { setItem: () => undefined });
  entries.clear();
  setCurrentOrganization('one');
});

afterAll(() => {
  setCurrentOrganization(undefined);
  vi.unstubAllGlobals();
});

test('what one tab saves or keeps does not touch what another could not save', async () => {
  const [first, second] = [openPendingStore('7'), openPendingStore('7')];
  await first.write(pending('first', 1));
  await second.write(pending('second', 2));
  await second.remove();
  expect(textOf(await openPendingStore('7').take())).toBe('first');
});

test('a visit takes over what was kept last, once, and leaves the rest for the next', async () => {
  await openPendingStore('7').write(pending('older', 1));
  await openPendingStore('7').write(pending('newer', 2));
  await openPendingStore('77').write(pending('of another tag set', 3));
  const visit = openPendingStore('7');
  expect(textOf(await visit.take())).toBe('newer');
  await visit.remove();
  const next = openPendingStore('7');
  expect(textOf(await next.take())).toBe('older');
  await next.removeAll();
  expect(await openPendingStore('7').take()).toBeUndefined();
  expect(textOf(await openPendingStore('77').take())).toBe('of another tag set');
});

test('an edit before the visit has taken over anything stays', async () => {
  await openPendingStore('7').write(pending('earlier', 1));
  const visit = openPendingStore('7');
  await visit.write(pending('typed', 2));
  expect(await visit.take()).toBeUndefined();
  expect([...entries.values()].map((kept) => textOf(kept as Pending)).sort()).toEqual([
    'earlier',
    'typed',
  ]);
});

test('is kept for the organization of the visit, whichever is chosen later', async () => {
  const visit = openPendingStore('7');
  setCurrentOrganization('two');
  await visit.write(pending('of one', 1));
  expect(await openPendingStore('7').take()).toBeUndefined();
  setCurrentOrganization('one');
  expect(textOf(await openPendingStore('7').take())).toBe('of one');
});

test('what earlier versions kept, without a visit, is found', async () => {
  entries.set('one//7', pending('old', 1));
  expect(textOf(await openPendingStore('7').take())).toBe('old');
  expect([...entries.keys()]).toHaveLength(1);
});
