import { expect, test } from 'vitest';
import { createFormat } from '@/kit/i18n/format';
import { usedShare, writeAmount, writeQuantity } from './meters';

test('amounts keep their decimal places', () => {
  expect(writeAmount('en', '49.00', 'EUR')).toBe('€49.00');
  expect(writeAmount('en', '0.0004', 'EUR')).toBe('€0.0004');
  expect(writeAmount('en', '9007199254740993.01', 'EUR')).toBe('€9,007,199,254,740,993.01');
  expect(writeAmount('de', '1299.50', 'EUR').replaceAll(/\s/g, ' ')).toBe('1.299,50 €');
});

test('shares of limits', () => {
  expect(usedShare(5, 20)).toBe(25);
  expect(usedShare(30, 20)).toBe(100);
  expect(usedShare(0, 0)).toBe(0);
  expect(usedShare(1, 0)).toBe(100);
});

test('bytes and counts', () => {
  const format = createFormat('en');
  expect(writeQuantity(format, 'stored_bytes', 1_500)).toBe('1.5 kB');
  expect(writeQuantity(format, 'stored_bytes', 100 * 2 ** 30)).toBe('100 GiB');
  expect(writeQuantity(format, 'members', 1_500)).toBe('1,500');
});
