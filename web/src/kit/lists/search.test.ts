import { describe, expect, test } from 'vitest';
import { compact, hasFilter, readChoice, readDay, readId, readText } from './search';

describe('reading the state of a list', () => {
  test('texts', () => {
    expect(readText({ q: 'a' }, 'q')).toBe('a');
    expect(readText({ q: 12 }, 'q')).toBe('12');
    expect(readText({ q: ' ' }, 'q')).toBeUndefined();
    expect(readText({ q: ['a'] }, 'q')).toBeUndefined();
  });

  test('choices that exist', () => {
    expect(readChoice({ role: 'admin' }, 'role', ['admin', 'owner'])).toBe('admin');
    expect(readChoice({ role: 'root' }, 'role', ['admin', 'owner'])).toBeUndefined();
  });

  test('ids', () => {
    const id = '0198c0de-0000-7000-8000-000000000001';
    expect(readId({ id }, 'id')).toBe(id);
    expect(readId({ id: `${id}'` }, 'id')).toBeUndefined();
  });

  test('days that exist', () => {
    expect(readDay({ from: '2026-11-26' }, 'from')).toBe('2026-11-26');
    expect(readDay({ from: '2026-13-01' }, 'from')).toBeUndefined();
    expect(readDay({ from: 'yesterday' }, 'from')).toBeUndefined();
  });
});

test('compact leaves out what has no value', () => {
  expect(compact({ a: undefined, b: '', c: 0, d: false })).toEqual({ c: 0, d: false });
});

test.each([
  [{ cursor: 'next', sort: '-created_at', status: undefined }, false],
  [{ cursor: 'next', status: 'open' }, true],
])('the order and the page of a list are no filters: %j', (search, expected) => {
  expect(hasFilter(search)).toBe(expected);
});
