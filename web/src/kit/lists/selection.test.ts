import { expect, test } from 'vitest';
import { nextSort } from './columns';
import { idsBetween, toggleMarks } from './selection';

test('a range has both its ends, in either direction', () => {
  expect(idsBetween(['a', 'b', 'c', 'd'], 'b', 'd')).toEqual(['b', 'c', 'd']);
  expect(idsBetween(['a', 'b', 'c', 'd'], 'd', 'b')).toEqual(['b', 'c', 'd']);
});

test('a range whose start is no longer listed is its end', () => {
  expect(idsBetween(['a', 'b'], 'gone', 'b')).toEqual(['b']);
});

test('a column is sorted up first, then down', () => {
  expect(nextSort(undefined, 'name')).toBe('name');
  expect(nextSort('name', 'name')).toBe('-name');
  expect(nextSort('-name', 'name')).toBe('name');
});

test('a range begins at the row that was marked last, wherever it is now', () => {
  const none = { chosen: new Set<string>(), everything: false };
  const one = toggleMarks(none, ['a', 'b', 'c'], 'a', false);
  const range = toggleMarks(one, ['new', 'a', 'b', 'c'], 'c', true);
  expect([...range.chosen]).toEqual(['a', 'b', 'c']);
  expect([...toggleMarks(none, ['a', 'b', 'c'], 'c', true).chosen]).toEqual(['c']);
});
