import { expect, test } from 'vitest';
import { buildMatrix, pairKey } from './matrix';

const person = (id: string) => ({ id, name: id.toUpperCase() });
const pair = (a: string, b: string | null, value = 0.5) => ({
  a: person(a),
  b: b === null ? null : person(b),
  field: 'topic',
  metric: 'percent',
  value,
  ci_low: null,
  ci_high: null,
  units: 4,
});

test('pairs become a symmetric matrix', () => {
  const matrix = buildMatrix([pair('c', 'a', 0.1), pair('b', 'c', 0.2)]);
  expect(matrix?.people.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  expect(matrix?.values.get(pairKey('a', 'c'))?.value).toBe(0.1);
  expect(matrix?.values.get(pairKey('c', 'b'))?.value).toBe(0.2);
  expect(matrix?.values.get(pairKey('a', 'b'))).toBeUndefined();
});

test('with people who are not seen there is no matrix', () => {
  expect(buildMatrix([pair('a', null)])).toBeUndefined();
});
