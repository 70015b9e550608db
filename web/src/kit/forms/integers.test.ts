import { expect, test } from 'vitest';
import { readInteger } from './integers';

test.each([
  ['', ''],
  [45, 45],
  ['-', undefined],
  ['12.', 12],
  [12.5, 12.5],
  ['12.50', 12.5],
  ['1.000', 1000],
  [1.234, 1234],
  ['-12.000', -12_000],
  ['0.500', 0.5],
  ['1234.567', 1234.567],
])('reads %j as %j', (typed, value) => {
  expect(readInteger(typed)).toBe(value);
});
