import { describe, expect, test } from 'vitest';
import { chooseLocale, createFormat } from './format';

const now = new Date('2026-11-26T12:00:00Z');

describe('createFormat', () => {
  test('writes numbers as the language does', () => {
    expect(createFormat('de').number(1234.5)).toBe('1.234,5');
    expect(createFormat('en').number(1234.5)).toBe('1,234.5');
    expect(createFormat('en').percent(0.256)).toBe('26%');
  });

  test.each([
    [0, '0 byte'],
    [999, '999 byte'],
    [1_500, '1.5 kB'],
    [2_000_000, '2 MB'],
    [5_000_000_000_000_000, '5,000 TB'],
  ])('writes %d bytes', (value, text) => {
    expect(createFormat('en').bytes(value)).toBe(text);
  });

  test.each([
    ['UTC', 'Dec 1, 2026'],
    ['America/Los_Angeles', 'Nov 30, 2026'],
  ])('writes the day in %s', (timeZone, text) => {
    expect(createFormat('en').dayIn(timeZone, '2026-12-01T00:00:00Z')).toBe(text);
  });

  test.each([
    ['2026-11-26T12:00:20Z', 'this minute'],
    ['2026-11-26T11:55:00Z', '5 minutes ago'],
    ['2026-11-26T15:00:00Z', 'in 3 hours'],
    ['2026-11-25T12:00:00Z', 'yesterday'],
    ['2028-12-26T12:00:00Z', 'in 2 years'],
  ])('writes %s relative to now', (value, text) => {
    expect(createFormat('en').relative(value, now)).toBe(text);
  });
});

test('chooseLocale prefers the region of the browser', () => {
  expect(chooseLocale('de', ['en-US', 'de-AT'])).toBe('de-AT');
  expect(chooseLocale('de', ['en-US'])).toBe('de');
  expect(chooseLocale('en', ['en-US@posix', 'en-GB'])).toBe('en-GB');
  expect(chooseLocale('en', ['en-US@posix'])).toBe('en');
});
