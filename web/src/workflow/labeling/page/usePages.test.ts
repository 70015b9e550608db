import { expect, test } from 'vitest';
import { toPage } from './usePages';

test('a page and its words stay the same while others are read', () => {
  const page = { number: 1, width: 100, height: 100, rotation: 0, start: 0, end: 0, words: [] };
  expect(toPage(page)).toBe(toPage(page));
  expect(toPage({ ...page })).not.toBe(toPage(page));
});
