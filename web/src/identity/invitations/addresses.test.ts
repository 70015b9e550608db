import { expect, test } from 'vitest';
import { splitAddresses } from './addresses';

test('takes addresses out of pasted lists, each once', () => {
  expect(
    splitAddresses(['Ada Byron <Ada@example.com>; bo@example.com', 'ada@example.com']),
  ).toEqual(['ada@example.com', 'bo@example.com']);
  expect(splitAddresses(['nobody'])).toEqual([]);
});
