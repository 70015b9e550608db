import { expect, test } from 'vitest';
import {
  chosenOf,
  collectValues,
  findProblems,
  initialValues,
  readForm,
  visibleFields,
} from './schema';

const SFTP = {
  type: 'object',
  properties: {
    host: { type: 'string', title: 'Host', pattern: '^[a-z.]+$', minLength: 1 },
    port: { type: 'integer', minimum: 1, maximum: 65535, default: 22 },
    tls: { type: 'boolean', default: true },
    mode: { enum: ['a', 'b'], default: 'a' },
    urls: { type: 'array', items: { type: 'string' } },
    password: { type: 'string', minLength: 1, maxLength: 1024, writeOnly: true },
    private_key: { type: 'string', maxLength: 32768, writeOnly: true },
    passphrase: { type: 'string', maxLength: 1024, writeOnly: true },
  },
  required: ['host'],
  oneOf: [{ required: ['password'] }, { required: ['private_key'] }],
  dependentRequired: { passphrase: ['private_key'] },
};
const form = readForm(SFTP);
const names = (chosen: string) => visibleFields(form, chosen).map(({ name }) => name);

test('reads the type of each field', () => {
  expect(form.fields.map(({ kind }) => kind)).toEqual([
    ...['text', 'number', 'boolean', 'option', 'list', 'secret', 'long', 'secret'],
  ]);
});

test('shows one of the alternatives, and what belongs to it', () => {
  expect(chosenOf(form, {}, [])).toBe('password');
  expect(chosenOf(form, {}, ['private_key'])).toBe('private_key');
  expect(names('password')).not.toContain('passphrase');
  expect(names('private_key')).toContain('passphrase');
  expect(names('private_key')).not.toContain('password');
});

test('sends neither empty nor hidden entries', () => {
  const values = { host: 'a.b', port: 22, urls: [], password: 'x', private_key: 'left over' };
  expect(collectValues(visibleFields(form, 'password'), values)).toEqual({
    host: 'a.b',
    port: 22,
    password: 'x',
  });
});

test('finds what is missing or wrong', () => {
  const fields = visibleFields(form, 'password');
  expect(findProblems(form, fields, { port: 0 }, [])).toEqual({
    host: 'required',
    port: 'number',
    password: 'needed',
  });
  expect(findProblems(form, fields, { host: 'A B' }, ['password'])).toEqual({ host: 'pattern' });
});

test('fills in what exists', () => {
  expect(initialValues(form, { host: 'h', port: 2, urls: ['u'], other: 1 })).toEqual({
    host: 'h',
    port: 2,
    urls: ['u'],
  });
});

test('a schema that is none has no fields', () => {
  expect(readForm(null).fields).toEqual([]);
  expect(readForm({ properties: {} }).fields).toEqual([]);
});
