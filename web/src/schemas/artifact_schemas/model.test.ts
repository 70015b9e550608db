import { afterEach, expect, test, vi } from 'vitest';
import {
  cleanConstraints,
  keyAfter,
  keyFrom,
  moveItem,
  newField,
  pathOf,
  replaceField,
  toBody,
} from './model';

test('keys are snake_case in Latin letters and differ', () => {
  expect(keyFrom('Invoice No.')).toBe('invoice_no');
  expect(keyFrom('Größe')).toBe('grosse');
  expect(keyFrom('2nd Émission')).toBe('nd_emission');
  expect(keyFrom('発票')).toBe('field');
  expect(keyFrom('Total', ['total', 'total_2'])).toBe('total_3');
});

test.each([
  ['follows the label', 'total', [], 'amount_due'],
  ['differs from the others', 'total', ['amount_due'], 'amount_due_2'],
  ['stays if somebody has chosen it', 'sum', [], 'sum'],
])('the key %s', (_, key, others, expected) => {
  const field = { key, label: 'Total' };
  expect(keyAfter(field, 'Amount due', { others, published: ['date'] })).toBe(expected);
});

test('the key of a published field stays when its label is corrected', () => {
  const field = { key: 'totl', label: 'Totl' };
  expect(keyAfter(field, 'Total', { others: [], published: ['totl'] })).toBe('totl');
});

test('constraints that do not fit the type are not sent', () => {
  const constraints = { min: 1, max: '', pattern: 'x', currencies: [] };
  expect(cleanConstraints({ type: 'money', constraints })).toEqual({ min: 1 });
  expect(cleanConstraints({ type: 'text', constraints })).toEqual({ pattern: 'x' });
});

test('a field survives the way to the API', () => {
  const column = { ...newField('number', 'Price', []), required: true };
  const table = { ...newField('table', 'Items', []), columns: [column] };
  const choice = newField('choice', 'Kind', []);
  choice.options = [{ uid: '1', value: 'a', label: 'A' }];
  const body = toBody([table, choice]);
  expect(body[0]).toMatchObject({ key: 'items', type: 'table', columns: [{ key: 'price' }] });
  expect(body[1]).toMatchObject({ options: [{ value: 'a', label: 'A' }] });
});

test('columns are changed and found inside of their table', () => {
  const column = newField('text', 'Name', []);
  const fields = [newField('text', 'A', []), { ...newField('table', 'T', []), columns: [column] }];
  expect(pathOf(fields, column.uid)).toBe('fields.1.columns.0');
  expect(pathOf(fields, 'gone')).toBeUndefined();
  expect(replaceField(fields, column.uid, { key: 'x' })[1]?.columns[0]?.key).toBe('x');
});

test('moves within the list', () => {
  expect(moveItem(['a', 'b', 'c'], 0, 2)).toEqual(['b', 'c', 'a']);
  expect(moveItem(['a', 'b', 'c'], 2, -1)).toEqual(['c', 'a', 'b']);
});

afterEach(() => vi.unstubAllGlobals());

test('fields have ids on pages that are not encrypted, too', () => {
  // `crypto.randomUUID` is not there.
  const getRandomValues = <Values extends Uint8Array>(values: Values) => values.fill(7);
  vi.stubGlobal('crypto', { getRandomValues });
  expect(newField('choice', 'Kind', []).uid).toHaveLength(32);
});
