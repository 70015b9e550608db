import { expect, test } from 'vitest';
import { ApiError } from '@/kit/api/errors';
import { callEach, callInParts, toAssignees } from './bulk';

const ids = (count: number) => Array.from({ length: count }, (_, index) => String(index));

test('ids are sent in parts, and the results are put together', async () => {
  const sizes: number[] = [];
  const result = await callInParts({ ids: ids(2300) }, async ({ artifact_ids = [] }) => {
    sizes.push(artifact_ids.length);
    const outcomes = artifact_ids.map((id) => ({ id, ok: true, code: null, message: null }));
    return Promise.resolve({
      matched: artifact_ids.length,
      succeeded: artifact_ids.length,
      failed: 0,
      outcomes,
    });
  });
  expect(sizes).toEqual([1000, 1000, 300]);
  expect(result.succeeded).toBe(2300);
  expect(result.outcomes.map(({ id }) => id)).toEqual(ids(2300));
});

test('a later part that fails does not hide what the earlier ones did', async () => {
  const refusal = new ApiError(429, { code: 'rate_limited', message: 'Too many requests.' });
  const sizes: number[] = [];
  const call = (succeeding: number) =>
    callInParts({ ids: ids(2300) }, ({ artifact_ids = [] }) => {
      const { length } = artifact_ids;
      if (sizes.push(length) > succeeding) return Promise.reject(refusal);
      return Promise.resolve({ matched: length, succeeded: length, failed: 0, outcomes: [] });
    });
  const result = await call(1);
  expect(sizes).toEqual([1000, 1000]);
  expect(result).toMatchObject({ matched: 2300, succeeded: 1000, failed: 1300 });
  expect(result.outcomes[0]).toEqual({
    id: '1000',
    ok: false,
    code: 'rate_limited',
    message: 'Too many requests.',
  });
  await expect(call(0)).rejects.toBe(refusal);
});

test('a filter is one call with the number that was shown', async () => {
  const calls: unknown[] = [];
  await callInParts({ filter: { q: 'rent' }, count: 7 }, (selection) => {
    calls.push(selection);
    return Promise.resolve({ matched: 7, succeeded: 7, failed: 0, outcomes: [] });
  });
  expect(calls).toEqual([{ filter: { q: 'rent' }, expected_count: 7 }]);
});

test('one that fails does not stop the others', async () => {
  const result = await callEach(ids(9), (id) =>
    id === '4'
      ? Promise.reject(new ApiError(409, { code: 'conflict', message: 'It has tag sets.' }))
      : Promise.resolve(),
  );
  expect(result.succeeded).toBe(8);
  expect(result.outcomes[4]).toEqual({
    id: '4',
    ok: false,
    code: 'conflict',
    message: 'It has tag sets.',
  });
});

test('documents go to a user, a team, or back to the pool', () => {
  const due_at = '2026-12-01T00:00:00.000Z';
  expect(toAssignees({ kind: 'user', id: 'u', due_at: undefined })).toEqual({ user_ids: ['u'] });
  expect(toAssignees({ kind: 'team', id: 't', due_at })).toEqual({ team_id: 't', due_at });
  expect(toAssignees({ kind: undefined, id: undefined, due_at: undefined })).toEqual({
    user_ids: [],
  });
});
