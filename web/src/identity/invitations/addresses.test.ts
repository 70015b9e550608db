import { expect, test } from 'vitest';
import { keepUnsent, splitAddresses } from './addresses';

test('takes addresses out of pasted lists, each once', () => {
  expect(
    splitAddresses(['Ada Byron <Ada@example.com>; bo@example.com', 'ada@example.com']),
  ).toEqual(['ada@example.com', 'bo@example.com']);
  expect(splitAddresses(['nobody'])).toEqual([]);
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
