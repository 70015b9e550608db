import { describe, expect, test } from 'vitest';
import { countPoints, splitText, stretchBetween, toUnits, wordAround } from './text';

describe('code points', () => {
  test('count a pair of surrogates once, and a combining mark on its own', () => {
    expect(countPoints('a😀b')).toBe(3);
    expect(countPoints('e\u0301')).toBe(2);
    expect(toUnits('a😀b', 2)).toBe(3);
  });
});

describe('splitText', () => {
  test('cuts at line ends and loses nothing', () => {
    const text = Array.from({ length: 400 }, (_, n) => `line ${n} 😀`).join('\n');
    const chunks = splitText(text);
    expect(chunks.length).toBeGreaterThan(1);
    expect(chunks.map((chunk) => chunk.text).join('')).toBe(text);
    const last = chunks.at(-1);
    expect((last?.start ?? 0) + (last?.length ?? 0)).toBe(countPoints(text));
  });
});

describe('stretchBetween', () => {
  const chunks = [
    { text: 'one 😀 two\n', start: 0, length: 10 },
    { text: 'three', start: 10, length: 5 },
  ];

  test('counts code points and leaves white space out', () => {
    const found = stretchBetween(chunks, { chunk: 0, unit: 3 }, { chunk: 0, unit: 7 });
    expect(found).toEqual({ start: 4, end: 5, text: '😀' });
  });

  test('goes over chunks', () => {
    const found = stretchBetween(chunks, { chunk: 0, unit: 7 }, { chunk: 1, unit: 5 });
    expect(found).toEqual({ start: 6, end: 15, text: 'two\nthree' });
  });

  test('nothing but white space is nothing', () => {
    expect(stretchBetween(chunks, { chunk: 0, unit: 3 }, { chunk: 0, unit: 4 })).toBeUndefined();
  });
});

describe('wordAround', () => {
  test.each([
    ['Total due', 7, 'en', 'due'],
    ['請求書番号', 1, 'ja', '請求'],
    ['رقم الفاتورة', 6, 'ar', 'الفاتورة'],
  ])('%s', (text, unit, language, expected) => {
    const found = wordAround(text, unit, language);
    expect(found && text.slice(found.from, found.to)).toBe(expected);
  });
});
