import { expect, test } from 'vitest';
import { findBoxes } from './PagesPreview';
import { showValue } from './values';

test('values are short texts', () => {
  expect(showValue({ amount: '12.50', currency: 'EUR' })).toBe('12.50 EUR');
  expect(showValue([1, 'a'])).toBe('1, a');
  expect(showValue(null)).toBe('–');
  expect(showValue([])).toBe('–');
  expect(showValue(false)).toBe('☐');
});

test('words of a search are found on the page', () => {
  const words = ['Total', 'monthly', 'rent:'].map((text, index) => ({
    text,
    box: [index, 0, index + 1, 1],
    start: 0,
    end: 0,
    origin: 'text' as const,
  }));
  const page = { number: 1, width: 1, height: 1, rotation: 0, start: 0, end: 0, words };
  expect(findBoxes(page, [['monthl', 'rent']])).toEqual([
    [1, 0, 2, 1],
    [2, 0, 3, 1],
  ]);
  expect(findBoxes(page, [])).toEqual([]);
});
