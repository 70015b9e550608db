import { describe, expect, test } from 'vitest';
import {
  buildEvidence,
  buildIndex,
  buildSpan,
  findWords,
  joinWords,
  moveFrom,
  readingDirection,
  wordAt,
  wordsBetween,
  wordsIn,
  type Word,
} from './words';

/** Lines of words, 0.1 wide each and 0.05 high; offsets as in a text with spaces and newlines. */
function page(...lines: string[]) {
  let offset = 0;
  const raw = lines.flatMap((line, row) =>
    line.split(' ').map((text, column) => {
      const length = Array.from(text).length;
      const word = {
        text,
        box: [column * 0.12, row * 0.1, column * 0.12 + 0.1, row * 0.1 + 0.05],
        start: offset,
        end: offset + length,
      };
      offset += length + 1;
      return word;
    }),
  );
  return buildIndex(1, raw);
}

const texts = (words: readonly Word[]) => words.map((word) => word.text).join(' ');
const index = page('Invoice no. 0613', 'Total due £512.40', 'Thank you');
const at = (position: number) => index.words[position] as Word;

describe('finding words', () => {
  test('finds the word at a point, or near it', () => {
    expect(wordAt(index, { x: 0.13, y: 0.02 })?.text).toBe('no.');
    expect(wordAt(index, { x: 0.102, y: 0.02 })?.text).toBe('Invoice');
    expect(wordAt(index, { x: 0.9, y: 0.9 })).toBeUndefined();
  });

  test('finds the words whose middle is in a box, in reading order', () => {
    expect(texts(wordsIn(index, [0, 0, 0.2, 0.16]))).toBe('Invoice no. Total due');
    expect(wordsIn(index, [0.5, 0.5, 0.9, 0.9])).toEqual([]);
  });

  test('selects from one word to another in both directions', () => {
    expect(texts(wordsBetween(index, at(4), at(2)))).toBe('0613 Total due');
  });

  test('finds a text over several words, without case', () => {
    expect(findWords(index, 'total DUE').map(texts)).toEqual(['Total due']);
    expect(findWords(index, '512').map(texts)).toEqual(['£512.40']);
    expect(findWords(index, ' ')).toEqual([]);
  });

  test('moves with the arrows', () => {
    expect(moveFrom(index, at(0), 'right').text).toBe('no.');
    expect(moveFrom(index, at(2), 'down').text).toBe('£512.40');
    expect(moveFrom(index, at(7), 'up').text).toBe('due');
    expect(moveFrom(index, at(0), 'up').text).toBe('Invoice');
  });

  test('the arrows go over Arabic and Hebrew as it is read', () => {
    const [first] = index.words as [Word];
    expect(readingDirection(index, first, 'left')).toBe('left');
    // The words in the order of reading, with their places: the amount goes the other way.
    const places = [0.8, 0.7, 0.6, 0.3, 0.4, 0.2];
    const raw = places.map((x, at) => {
      return { text: `${at}`, box: [x, 0, x + 0.05, 0.05], start: at, end: at };
    });
    const hebrew = buildIndex(1, raw);
    const [word] = hebrew.words as [Word];
    const way = readingDirection(hebrew, word, 'left');
    expect(moveFrom(hebrew, word, way).index).toBe(1);
    expect(readingDirection(hebrew, word, 'down')).toBe('down');
  });

  test('a page of 5,000 words is searched by its grid', () => {
    const raw = Array.from({ length: 5000 }, (_, n) => {
      const [x, y] = [(n % 50) / 50, Math.floor(n / 50) / 100];
      return {
        text: String(n),
        box: [x, y, x + 0.015, y + 0.008],
        start: n * 5,
        end: n * 5 + 4,
      };
    });
    const large = buildIndex(1, raw);
    expect(wordAt(large, { x: 0.205, y: 0.504 })?.text).toBe('2510');
    expect(Math.max(...[...large.cells.values()].map((cell) => cell.length))).toBeLessThan(40);
  });
});

describe('joinWords', () => {
  test('separates words by one space, also over lines', () => {
    expect(joinWords(wordsBetween(index, at(1), at(3)))).toBe('no. 0613 Total');
  });

  test('joins what touches in the text, as Japanese does', () => {
    const touching = buildIndex(1, [
      { text: '請求', box: [0, 0, 0.1, 0.1], start: 0, end: 2 },
      { text: '書', box: [0.1, 0, 0.2, 0.1], start: 2, end: 3 },
      { text: '番号', box: [0, 0.2, 0.2, 0.3], start: 4, end: 6 },
      { text: 'A-1', box: [0.3, 0.2, 0.4, 0.3], start: 7, end: 10 },
    ]);
    expect(joinWords(touching.words)).toBe('請求書番号 A-1');
  });

  test('joins lines also at a character that is a pair of surrogates', () => {
    const shop = buildIndex(1, [
      { text: '株式会社𠮷', box: [0, 0, 0.1, 0.1], start: 0, end: 5 },
      { text: '𠮷野家', box: [0, 0.2, 0.2, 0.3], start: 6, end: 9 },
    ]);
    expect(joinWords(shop.words)).toBe('株式会社𠮷𠮷野家');
  });

  test('keeps right-to-left and combining text as the document has it', () => {
    const arabic = page('فاتورة رقم ١٢٣', 'नमस्ते दुनिया');
    expect(joinWords(arabic.words)).toBe('فاتورة رقم ١٢٣ नमस्ते दुनिया');
  });
});

describe('evidence', () => {
  test('has one piece per line', () => {
    const pieces = buildEvidence(wordsBetween(index, at(1), at(4)));
    expect(pieces.map(({ start, end }) => [start, end])).toEqual([
      [8, 16],
      [17, 26],
    ]);
    expect(pieces[0]?.box).toEqual([0.12, 0, 0.34, 0.05]);
  });

  test('words that are not next to each other are pieces of their own', () => {
    expect(buildEvidence([at(0), at(2)])).toHaveLength(2);
  });

  test('a span is one piece over all lines', () => {
    const [piece] = buildSpan(wordsBetween(index, at(1), at(4)));
    expect([piece?.start, piece?.end, piece?.page]).toEqual([8, 26, 1]);
    expect(piece?.box).toEqual([0, 0, 0.34, 0.15]);
  });
});
