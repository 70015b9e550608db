import { expect, test } from 'vitest';
import { writeValue } from './values';

test.each([
  ['text', 'text'],
  [12.5, '12.5'],
  [true, 'true'],
  [null, ''],
  [['a', 'b'], 'a, b'],
  [{ amount: '1.50', currency: 'EUR' }, '1.50 EUR'],
  [{ start: 3, end: 9, text: 'word' }, 'word'],
  [[{ page: 1 }], '1'],
])('writes %j', (value, text) => {
  expect(writeValue(value)).toBe(text);
});
