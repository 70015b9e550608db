import { expect, test } from 'vitest';
import { countFilters, parseSearch, startOfDay, toFilters } from './search';

const ID = '0193b1a2-0000-7000-8000-000000000001';

test('takes what is valid from an address', () => {
  const search = {
    q: 'rent',
    status: ['done', 'ready'],
    schema: ID,
    sort: '-name',
    assigned: false,
  };
  expect(parseSearch(search)).toEqual({
    q: 'rent',
    status: ['ready', 'done'],
    schema: ID,
    sort: '-name',
    assigned: false,
  });
});

test('drops what is not valid', () => {
  const search = {
    q: '',
    status: 'gone',
    schema: 'x',
    sort: 'size',
    archived: 'no',
    due_to: '1.2.3',
  };
  expect(parseSearch(search)).toEqual({});
});

test('a number in the address is a text to search for', () => {
  expect(parseSearch({ q: 4711 })).toEqual({ q: '4711' });
});

test('the last day of a period is included', () => {
  const filters = toFilters({ created_from: '2026-11-01', created_to: '2026-11-30' });
  expect(filters.created_after).toBe(new Date(2026, 10, 1).toISOString());
  expect(filters.created_before).toBe(new Date(2026, 11, 1).toISOString());
});

test('no day has no start', () => {
  expect(startOfDay(undefined)).toBeUndefined();
});

test('counts filters, but neither the order nor those that are left out', () => {
  expect(countFilters({ q: 'a', sort: 'name', gold: false })).toBe(2);
  expect(countFilters({ q: 'a', gold: true }, ['q'])).toBe(1);
});
