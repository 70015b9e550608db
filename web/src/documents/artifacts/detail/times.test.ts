import { expect, test } from 'vitest';
import { fromLocal, toLocal } from './times';

test('a time survives the way through an input', () => {
  const time = '2026-11-26T13:05:00.000Z';
  expect(fromLocal(toLocal(time))).toBe(time);
});

test('no time is an empty input', () => {
  expect(toLocal(null)).toBe('');
  expect(fromLocal('')).toBeNull();
});
