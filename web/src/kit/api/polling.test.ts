import { expect, test } from 'vitest';
import { ApiError } from './errors';
import { pollDelay, pollEvery, pollWhile } from './polling';

test('waits longer each time, and at most ten seconds', () => {
  const delays = [1, 2, 3, 20].map(pollDelay);
  expect(delays).toEqual([...delays].sort((a, b) => a - b));
  expect(delays[0]).toBe(700);
  expect(delays[3]).toBe(10_000);
});

test('rests when the job has ended, and begins anew with the next one', () => {
  const query = { state: { dataUpdateCount: 1, error: null } };
  expect(pollWhile(query, true)).toBe(700);
  query.state.dataUpdateCount = 9;
  expect(pollWhile(query, true)).toBe(10_000);
  expect(pollWhile(query, false)).toBe(false);
  query.state.dataUpdateCount = 10;
  expect(pollWhile(query, true)).toBe(700);
  expect(pollWhile(query, undefined)).toBe(false);
});

test.each([
  [403, false],
  [404, false],
  [410, false],
  [503, 5_000],
  [0, 5_000],
])('after %s, polls again after %s', (status, delay) => {
  const error = new ApiError(status, { code: 'any', message: '' });
  const query = { state: { dataUpdateCount: 1, error } };
  expect(pollEvery(query, 5_000)).toBe(delay);
  expect(pollWhile(query, true)).toBe(delay === false ? false : 700);
  expect(pollEvery({ state: { error: null } }, 5_000, false)).toBe(false);
});
