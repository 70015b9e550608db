import { expect, test } from 'vitest';
import { keepUnsent, splitAddresses } from './addresses';

test('takes addresses out of pasted lists, each once', () => {
  const text =
    'Ada Byron <Ada@example.com>; bo@example.com\n"Cy, D." <cy@example.com> ada@example.com';
  expect(splitAddresses(text).addresses).toEqual([
    ...['ada@example.com', 'bo@example.com', 'cy@example.com'],
  ]);
});

test('says what is no address', () => {
  expect(splitAddresses('Ada <ada@example.com>, bo.example.com; Cy')).toEqual({
    addresses: ['ada@example.com'],
    others: ['bo.example.com', 'Cy'],
  });
  expect(splitAddresses('nobody')).toEqual({ addresses: [], others: ['nobody'] });
  expect(splitAddresses(' ')).toEqual({ addresses: [], others: [] });
});

test('keeps what was typed while the others were sent, and what failed', () => {
  const sent = 'Ada Byron <ada@example.com>; bo@example.com';
  expect(keepUnsent(sent, sent, [])).toBe('');
  expect(keepUnsent(sent, sent, ['bo@example.com'])).toBe('bo@example.com');
  expect(keepUnsent(`${sent}, cy@example.com d`, sent, [])).toBe('cy@example.com\nd');
  expect(keepUnsent('cy@example.com', sent, ['bo@example.com'])).toBe(
    'bo@example.com\ncy@example.com',
  );
});
