import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { api } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
import { draftKey, readAhead, readDraft } from './reading';

const meta = { total: 0, page_size: 1, next_cursor: null, prev_cursor: null };

/** How often drafts were searched. */
let searches = 0;

beforeEach(() => {
  searches = 0;
  vi.stubGlobal('sessionStorage', { getItem: () => null });
  vi.spyOn(api, 'GET').mockImplementation((path: string) => {
    if (path === '/api/v1/tag-sets') searches += 1;
    return Promise.resolve({ data: { data: [], meta }, response: new Response() }) as never;
  });
});
afterEach(() => {
  queryClient.clear();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

test('the screen takes the draft that is being read, and no older one later', async () => {
  readAhead('7');
  expect(await readDraft('7')).toBeNull();
  expect(searches).toBe(1);
  await readDraft('7');
  expect(searches).toBe(2);
});

test('each document has its own draft', async () => {
  readAhead('7');
  await readDraft('8');
  expect(searches).toBe(2);
  await readDraft('7');
  expect(searches).toBe(2);
});

test('nothing is read ahead of a screen that is open', async () => {
  queryClient.setQueryData(draftKey('7'), null);
  readAhead('7');
  expect(searches).toBe(0);
  await readDraft('7');
  expect(searches).toBe(1);
});
