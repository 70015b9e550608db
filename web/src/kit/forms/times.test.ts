import { expect, test } from 'vitest';
import { fromLocal, toLocal } from './times';

test('a time survives the way through an input', () => {
  const time = '2026-11-26T13:05:00.000Z';
  expect(fromLocal(toLocal(time))).toBe(time);
});

test('the service is asked about what is no time', () => {
  expect(fromLocal('20260-01-01T10:00')).toBe('20260-01-01T10:00');
});

test('no time is an empty input', () => {
  expect(toLocal(null)).toBe('');
  expect(fromLocal('')).toBeNull();
});
