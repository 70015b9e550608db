import { expect, test } from 'vitest';
import { parseOptions } from './options';

test('options are lines of values and labels', () => {
  const options = parseOptions('a\n\nb: The B\r\nc\tThe C\nd: D: more\nhttp://x').map(
    ({ value, label }) => [value, label],
  );
  expect(options).toEqual([
    ['a', ''],
    ['b', 'The B'],
    ['c', 'The C'],
    ['d', 'D: more'],
    ['http://x', ''],
  ]);
});
