import { expect, test } from 'vitest';
import { chooseLanguage } from './i18n';

test.each([
  [['de-AT', 'en'], 'de'],
  [['fr', 'EN-gb', 'de'], 'en'],
  [['fr'], 'en'],
  [[], 'en'],
])('%j', (wanted, language) => {
  expect(chooseLanguage(wanted)).toBe(language);
});
