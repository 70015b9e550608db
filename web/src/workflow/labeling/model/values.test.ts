import { expect, test } from 'vitest';
import { createFormat } from '@/kit/i18n/format';
import { type Field, fromServer } from './tags';
import { addCurrency, describeValue, matchOption, summarize, toText } from './values';

const field = (type: Field['type'], options: Field['options'] = []) =>
  ({ key: type, type, options, columns: [] }) as unknown as Field;
const german = createFormat('de');

test.each([
  [{ amount: '12.50', currency: 'EUR' }, '12.50 EUR'],
  [{ street: 'Am Hof 1', city: 'Wien' }, 'Am Hof 1, Wien'],
  [true, 'true'],
  [7, '7'],
  [null, ''],
])('toText writes %j', (value, text) => {
  expect(toText(value)).toBe(text);
});

test('describeValue says what the canonical value means', () => {
  expect(describeValue('2026-01-30', field('date'), german)).toBe('Fr., 30. Januar 2026');
  expect(describeValue({ amount: '4327.20', currency: 'EUR' }, field('money'), german)).toBe(
    '4.327,20\u00a0€',
  );
  expect(describeValue('DE', field('country'), german)).toBe('Deutschland');
  expect(describeValue('EUR', field('currency'), german)).toBe('Euro');
  expect(describeValue('17', field('text'), german)).toBeUndefined();
});

test.each(['typing', '2026-13-45', '2026-02-30', '0000-00-00', '30. Januar 2026'])(
  'describeValue says nothing about %s, which is no day',
  (text) => {
    expect(describeValue(text, field('date'), german)).toBeUndefined();
  },
);

test('addCurrency takes the currency of the document', () => {
  const fields = [field('currency'), field('money')];
  const base = { row: null, confidence: null, source: 'human' as const, evidence: [] };
  const named = fromServer([{ ...base, field: 'currency', value: 'GBP' }]);
  expect(addCurrency('1.234,50', named, fields)).toBe('1.234,50 GBP');
  expect(addCurrency('12 €', named, fields)).toBe('12 €');
  expect(addCurrency('EUR 12', named, fields)).toBe('EUR 12');
  const amount = fromServer([{ ...base, field: 'money', value: { amount: '1', currency: 'CHF' } }]);
  expect(addCurrency('5', amount, fields)).toBe('5 CHF');
  expect(addCurrency('5', [], fields)).toBe('5');
});

test('options are found by value and label, and shown by label', () => {
  const choice = field('choice', [{ value: 'nda', label: 'Non-disclosure' }]);
  expect(matchOption(' NDA ', choice)).toBe('nda');
  expect(matchOption('non-disclosure', choice)).toBe('nda');
  expect(matchOption('other', choice)).toBeUndefined();
  expect(summarize({ value: 'nda', evidence: [] }, choice)).toBe('Non-disclosure');
});
