import { expect, test } from 'vitest';
import { pollDelay, pollWhile } from './polling';

test('waits longer each time, and at most ten seconds', () => {
  const delays = [1, 2, 3, 20].map(pollDelay);
  expect(delays).toEqual([...delays].sort((a, b) => a - b));
  expect(delays[0]).toBe(700);
  expect(delays[3]).toBe(10_000);
});

test('rests when the job has ended, and begins anew with the next one', () => {
  const query = { state: { dataUpdateCount: 1 } };
  expect(pollWhile(query, true)).toBe(700);
  query.state.dataUpdateCount = 9;
  expect(pollWhile(query, true)).toBe(10_000);
  expect(pollWhile(query, false)).toBe(false);
  query.state.dataUpdateCount = 10;
  expect(pollWhile(query, true)).toBe(700);
  expect(pollWhile(query, undefined)).toBe(false);
});
