import { expect, test } from 'vitest';
import { listChanges, showValue, toTimes } from './changes';

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

test('the last day is included', () => {
  const { created_after, created_before } = toTimes({ from: '2026-11-01', to: '2026-11-01' });
  const hours = (Date.parse(created_before ?? '') - Date.parse(created_after ?? '')) / 3_600_000;
  expect(hours).toBe(24);
  expect(toTimes({})).toEqual({ created_after: undefined, created_before: undefined });
});
