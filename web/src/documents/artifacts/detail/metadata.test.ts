import { expect, test } from 'vitest';
import { fromPairs, toPairs } from './metadata';

test('values keep their types', () => {
  const metadata = { vendor: 'ACME', amount: 12.5, paid: false, lot: '007' };
  expect(fromPairs(toPairs(metadata))).toEqual(metadata);
});

test.each([
  ['12,5', ',', 12.5],
  ['12.5', ',', 12.5],
  ['12,5', '.', '12,5'],
])('the number %s is read with the separator %s as %j', (value, separator, expected) => {
  const pairs = [{ key: 'amount', value, type: 'number' as const }];
  expect(fromPairs(pairs, separator)).toEqual({ amount: expected });
});

test('a value that is no number any more is a text, and rows without a name are dropped', () => {
  const pairs = [
    { key: 'amount', value: 'unknown', type: 'number' as const },
    { key: ' ', value: 'x', type: 'string' as const },
  ];
  expect(fromPairs(pairs)).toEqual({ amount: 'unknown' });
});
