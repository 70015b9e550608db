import { expect, test } from 'vitest';
import { toBody, toFormField, toValues } from './profile';

const empty = {
  name: null,
  address: null,
  tax_number: null,
  email: null,
  currency: 'EUR',
  time_zone: 'UTC',
  language: 'en',
  created_at: null,
  updated_at: null,
  revision: 0,
} as const;

test('an empty profile becomes an empty form', () => {
  expect(toValues(empty)).toMatchObject({ name: '', lines: '', country: '', currency: 'EUR' });
});

test('lines are separated, and what is empty is left out', () => {
  const values = { ...toValues(empty), lines: 'Hof 2\n\n Weg 1 ', currency: ' eur', city: 'Ulm' };
  expect(toBody(values, 3)).toMatchObject({
    address: { lines: ['Hof 2', 'Weg 1'], postal_code: null, city: 'Ulm' },
    tax_number: null,
    currency: 'EUR',
    revision: 3,
  });
});

test.each([
  ['address.city', 'city'],
  ['address.lines[0]', 'lines'],
  ['address.lines.1', 'lines'],
  ['tax_number', 'tax_number'],
])('the field %s is %s in the form', (field, name) => {
  expect(toFormField(field)).toBe(name);
});
