import { expect, test } from 'vitest';
import { listChanges, showValue } from './changes';

test('changes are listed by member', () => {
  expect(listChanges({ role: ['viewer', 'admin'], name: [null, 'A'] })).toEqual([
    { member: 'name', before: null, after: 'A' },
    { member: 'role', before: 'viewer', after: 'admin' },
  ]);
});

test.each([
  [null, { text: '–' }],
  ['a', { text: 'a' }],
  [3, { text: '3' }],
  [{ secret: true }, { secret: true }],
  [{ sha256: 'x', bytes: 4096 }, { bytes: 4096 }],
  [{ a: [1] }, { text: '{"a":[1]}' }],
])('the value %j', (value, shown) => {
  expect(showValue(value)).toEqual(shown);
});
