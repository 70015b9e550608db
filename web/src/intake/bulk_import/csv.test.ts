import { expect, test } from 'vitest';
import { findDelimiter, guessTargets, isUnchanged, mappedHeader, readCsv } from './csv';

const TEXT = 'id;body;stars\r\nR-1;"A ""good"" chair;\nagain.";5\r\nR-2;It broke.;1\r\nR-3;cut o';

test('reads columns and whole rows, with quotes and line breaks', () => {
  const start = readCsv(TEXT, 5, false);
  expect(start.delimiter).toBe(';');
  expect(start.columns).toEqual(['id', 'body', 'stars']);
  expect(start.rows).toEqual([
    ['R-1', 'A "good" chair;\nagain.', '5'],
    ['R-2', 'It broke.', '1'],
  ]);
  expect(TEXT.slice(start.headerLength)).toMatch(/^R-1/);
});

test('the last row of a whole file needs no end of line', () => {
  expect(readCsv('text\na', 5, true).rows).toEqual([['a']]);
  expect(readCsv('text\na\nb\nc', 2, true).rows).toEqual([['a'], ['b']]);
});

test('finds the delimiter', () => {
  expect(findDelimiter('a,b;c,d\n')).toBe(',');
  expect(findDelimiter('a\tb')).toBe('\t');
  expect(findDelimiter('text')).toBe(',');
});

test('guesses what the columns are, each member once', () => {
  expect(guessTargets(['id', 'body', 'stars'])).toEqual(['external_id', 'text', 'metadata']);
  expect(guessTargets(['body', 'text'])).toEqual(['metadata', 'text']);
  expect(guessTargets(['content', 'body'])).toEqual(['text', 'metadata']);
});

test('writes the header anew', () => {
  const start = readCsv('id;body;name\n1;2;3', 1, true);
  expect(isUnchanged(start, ['metadata', 'metadata', 'name'])).toBe(true);
  const targets = ['external_id', 'text', 'metadata'] as const;
  expect(isUnchanged(start, targets)).toBe(false);
  expect(mappedHeader(start, targets)).toBe('external_id;text;name_column\n');
  expect(mappedHeader({ ...start, columns: ['a;b'] }, ['metadata'])).toBe('"a;b"\n');
});

test.each(['sep=;\n', 'SEP=;\r\n', '"sep=;"\n', '\uFEFFsep=;\n'])(
  'the line %j states the delimiter',
  (line) => {
    const start = readCsv(`${line}text;a,b,c\nx;1\n`, 5, true);
    expect(start).toEqual({
      delimiter: ';',
      columns: ['text', 'a,b,c'],
      rows: [['x', '1']],
      headerLength: line.length + 'text;a,b,c\n'.length,
    });
  },
);

test('a byte order mark is no part of the first column', () => {
  const start = readCsv('\uFEFFtext\na\n', 1, true);
  expect(start.columns).toEqual(['text']);
  expect(start.headerLength).toBe(6);
});
