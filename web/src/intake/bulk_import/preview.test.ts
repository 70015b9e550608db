import { expect, test } from 'vitest';
import { previewFile, readLines, readPreview, replaceHeader } from './preview';

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

test.each(['', '\uFEFF'])('replaces the header after %j and keeps the rest', async (mark) => {
  const file = new File([`${mark}größe;body\n1;ä\n`], 'a.csv');
  const { csv } = await previewFile(file);
  if (!csv) throw new Error('no CSV');
  expect(csv.columns).toEqual(['größe', 'body']);
  const changed = await replaceHeader(file, csv, 'size;text\n');
  expect(await changed.text()).toBe('size;text\n1;ä\n');
});

test.each(['utf-16le', 'utf-16be'] as const)(
  'reads %s, and writes a header in it',
  async (encoding) => {
    const units = Array.from('\uFEFFgröße\tbody\n1\tä\n', (char) => char.charCodeAt(0));
    const encoded = units.flatMap((unit) => {
      const bytes = [unit >> 8, unit & 255];
      return encoding === 'utf-16be' ? bytes : bytes.reverse();
    });
    const file = new File([new Uint8Array(encoded)], 'a.txt');
    const { csv } = await previewFile(file);
    if (!csv) throw new Error('no CSV');
    expect([csv.columns, csv.rows]).toEqual([['größe', 'body'], [['1', 'ä']]]);
    const changed = await replaceHeader(file, csv, 'size\ttext\n');
    const text = new TextDecoder(encoding, { ignoreBOM: true }).decode(await changed.arrayBuffer());
    expect(text).toBe('\uFEFFsize\ttext\n1\tä\n');
  },
);

test('a byte order mark is no part of a record', async () => {
  const preview = await previewFile(new File(['\uFEFF{"text": "a"}\n'], 'a.jsonl'));
  expect(preview).toEqual({ format: 'jsonl', records: [{ text: 'a' }] });
});
