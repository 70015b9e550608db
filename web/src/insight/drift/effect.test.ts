import { expect, test } from 'vitest';
import { isShare, nameEffect } from './effect';

test('sizes of effects', () => {
  expect([0.05, 0.1, 0.24, 0.25].map(nameEffect)).toEqual([
    'small',
    'moderate',
    'moderate',
    'large',
  ]);
});

test('which values are shares', () => {
  expect(isShare('values', 'EUR')).toBe(true);
  expect(isShare('values', null)).toBe(false);
  expect(isShare('length', null)).toBe(false);
  expect(isShare('empty_rate', null)).toBe(true);
});
