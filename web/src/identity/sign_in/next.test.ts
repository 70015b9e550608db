import { expect, test } from 'vitest';
import { safeNext } from './next';

test.each(['/o/demo/documents?page=2', '/'])('%s leads on', (next) => {
  expect(safeNext(next)).toBe(next);
});

test.each([
  undefined,
  '',
  '//other.example',
  '/\\other.example',
  '/\t/other.example',
  'https://other.example',
  'javascript:alert(1)',
])('%s does not', (next) => {
  expect(safeNext(next)).toBeUndefined();
});
