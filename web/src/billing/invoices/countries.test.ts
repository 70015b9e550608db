import { expect, test } from 'vitest';
import { listCountries } from './countries';

test('names countries in the language', () => {
  const german = listCountries('de');
  expect(german.find(({ value }) => value === 'AT')?.label).toBe('Österreich');
  expect(german.length).toBeGreaterThan(240);
  expect(german.some(({ value }) => value === 'EU' || value === 'ZZ')).toBe(false);
});
