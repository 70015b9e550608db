import { expect, test } from 'vitest';
import { readWhole } from './useWholeList';

const meta = { total: 3, page_size: 2, prev_cursor: null };

test('all pages are read, each with the cursor of the last', async () => {
  const asked: (string | undefined)[] = [];
  const rows = await readWhole((cursor) => {
    asked.push(cursor);
    return Promise.resolve(
      cursor === undefined
        ? { data: [1, 2], meta: { ...meta, next_cursor: 'next' } }
        : { data: [3], meta: { ...meta, next_cursor: null } },
    );
  });
  expect(rows).toEqual([1, 2, 3]);
  expect(asked).toEqual([undefined, 'next']);
});
