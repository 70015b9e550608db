import { expect, test } from 'vitest';
import { ApiError } from '@/kit/api/errors';
import { fieldErrors, otherError } from './fieldErrors';

const fail = (field?: string) =>
  new ApiError(400, { code: 'validation_error', message: 'No.', ...(field && { field }) });

test.each([
  ['name', { name: 'No.' }],
  ['skills.0', { skills: 'No.' }],
  ['skills[2].name', { skills: 'No.' }],
  ['skill', {}],
  ['address.city', { 'address.city': 'No.' }],
  [undefined, {}],
])('the error on %s', (field, expected) => {
  const fields = ['name', 'skills', 'address', 'address.city'];
  const error = fail(field);
  expect(fieldErrors(error, fields)).toEqual(expected);
  expect(otherError(error, fields)).toBe(Object.keys(expected).length > 0 ? null : error);
});
