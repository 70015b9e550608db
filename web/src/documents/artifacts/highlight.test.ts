import { expect, test } from 'vitest';
import { cutAtHits, cutSnippet, findHits, parseQuery } from './highlight';

const find = (text: string, query: string) =>
  findHits(text, parseQuery(query)).map(({ start, end }) => text.slice(start, end));

test('reads words, phrases, alternatives and exclusions', () => {
  expect(parseQuery('rent or "monthly fee" -draft -"not this"')).toEqual([
    ['rent'],
    ['monthly', 'fee'].map((word) => (word === 'monthly' ? 'monthl' : word)),
  ]);
  expect(parseQuery('rent - fee')).toEqual([['rent'], ['fee']]);
});

test('finds words regardless of case and endings', () => {
  expect(find('Tenants pay the RENT.', 'tenant rents')).toEqual(['Tenants', 'RENT']);
  expect(find('parent', 'rent')).toEqual([]);
});

test('finds phrases only where their words follow each other', () => {
  expect(find('a monthly rent, and rent monthly', '"monthly rent"')).toEqual(['monthly rent']);
});

test('finds parts of a file name, and composed and decomposed accents', () => {
  expect(find('bill_4711.pdf', '4711')).toEqual(['4711']);
  expect(find('the cafe\u0301', 'café')).toEqual(['cafe\u0301']);
});

test('finds words of other scripts', () => {
  expect(find('إيجار شهري', 'شهري')).toEqual(['شهري']);
  expect(find('发票 合同', '合同')).toEqual(['合同']);
});

test('cuts a text without losing any of it', () => {
  const text = 'The rent and the fee';
  const pieces = cutAtHits(text, findHits(text, parseQuery('rent fee')));
  expect(pieces.map((piece) => piece.text).join('')).toBe(text);
  expect(pieces.filter((piece) => piece.marked).map((piece) => piece.text)).toEqual([
    'rent',
    'fee',
  ]);
});

test('a passage is on one line around the first hit', () => {
  const text = `${'word '.repeat(100)}the\nrent ${'word '.repeat(100)}`;
  const pieces = cutSnippet(text, parseQuery('rent')) ?? [];
  expect(pieces[0]?.text).toBe('… ');
  expect(pieces.some((piece) => piece.marked && piece.text === 'rent')).toBe(true);
  expect(pieces.map((piece) => piece.text).join('')).not.toContain('\n');
  expect(cutSnippet(text, parseQuery('gone'))).toBeUndefined();
});

test('markup is text', () => {
  const text = '<img src=x onerror=alert(1)> rent';
  expect(cutAtHits(text, findHits(text, parseQuery('img')))[0]?.text).toBe('<');
});
