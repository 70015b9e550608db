import { expect, test } from 'vitest';
import { readLines, readPreview, replaceHeader } from './preview';

test.each([
  ['PK\u0003\u0004', 'zip'],
  [' [{"id": 1}]', 'json'],
  ['{"text": "a"}\n', 'jsonl'],
  ['text;name\n', 'csv'],
])('%j is %s', (text, format) => {
  expect(readPreview(text, true).format).toBe(format);
});

test('leaves out a line that is cut off, and finds one that is wrong', () => {
  expect(readLines('{"text": "a"}\n{"te', false).records).toEqual([{ text: 'a' }]);
  expect(readLines('{"text": "a"}\n\nnonsense\n', true)).toMatchObject({
    records: [{ text: 'a' }],
    badLine: 3,
  });
});

test('replaces the header and keeps the rest', async () => {
  const text = 'größe;body\n1;ä\n';
  const { csv } = readPreview(text, true);
  if (!csv) throw new Error('no CSV');
  const file = replaceHeader(new File([text], 'a.csv'), text, csv, 'size;text\n');
  expect(await file.text()).toBe('size;text\n1;ä\n');
});
