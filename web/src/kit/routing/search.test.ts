import { expect, test } from 'vitest';
import { readCursor, readOption, readText } from './search';

test('reads what is known and drops the rest', () => {
  expect(readCursor({ cursor: 'abc', other: 1 })).toEqual({ cursor: 'abc' });
  expect(readCursor({ cursor: 5 })).toEqual({});
  expect(readText({ delivery: '' }, 'delivery')).toEqual({});
  expect(readOption({ status: 'failed' }, 'status', ['failed', 'done'])).toEqual({
    status: 'failed',
  });
  expect(readOption({ status: 'x' }, 'status', ['failed', 'done'])).toEqual({});
});
