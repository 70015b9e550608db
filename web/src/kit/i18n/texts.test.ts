/** Texts: both languages have the same keys, and the code uses every key. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

const SOURCES = join(import.meta.dirname, '..', '..');
const PLURAL = /_(zero|one|two|few|many|other)$/;
const namespaces = globSync('**/texts.en.json', { cwd: SOURCES }).map((file) => dirname(file));

function readTexts(namespace: string, language: string): Map<string, string> {
  const texts = new Map<string, string>();
  const collect = (value: unknown, path: string): void => {
    if (typeof value === 'string') texts.set(path, value);
    else
      for (const [key, inner] of Object.entries(value as object))
        collect(inner, path ? `${path}.${key}` : key);
  };
  collect(JSON.parse(readFileSync(join(SOURCES, namespace, `texts.${language}.json`), 'utf8')), '');
  return texts;
}

/** Literals of the code that may be keys: whole strings, and the start of templates. */
function readLiterals(folder: string): { whole: Set<string>; starts: string[] } {
  const code = globSync('**/*.{ts,tsx}', { cwd: join(SOURCES, folder) })
    .filter((file) => !file.includes('.test.'))
    .map((file) => readFileSync(join(SOURCES, folder, file), 'utf8'))
    .join('\n');
  const whole = new Set([...code.matchAll(/(['"`])([\w.-]+)\1/g)].map((match) => match[2] ?? ''));
  const starts = [...code.matchAll(/`([\w.-]*[._])\$\{/g)].map((match) => match[1] ?? '');
  return { whole, starts };
}

const sort = (texts: Map<string, unknown>) =>
  [...new Set([...texts.keys()].map((key) => key.replace(PLURAL, '')))].sort();
const placeholders = (text: string) =>
  [...text.matchAll(/\{\{(\w+)/g)].map((match) => match[1]).sort();

describe.each(namespaces)('%s', (namespace) => {
  const english = readTexts(namespace, 'en');
  const german = readTexts(namespace, 'de');

  test('has the same keys and placeholders in both languages', () => {
    expect(sort(german)).toEqual(sort(english));
    for (const [key, text] of english) {
      const other = german.get(key);
      if (other !== undefined)
        expect([key, placeholders(other)]).toEqual([key, placeholders(text)]);
    }
  });

  test('has no empty and no unused text', () => {
    const { whole, starts } = readLiterals(namespace === 'kit' ? '.' : namespace);
    const unused = sort(english).filter(
      (key) => !whole.has(key) && !starts.some((start) => key.startsWith(start)),
    );
    expect(unused).toEqual([]);
    expect([...english, ...german].filter(([, text]) => text.trim() === '')).toEqual([]);
  });
});

test('there are texts', () => {
  expect(namespaces.length).toBeGreaterThan(2);
});
