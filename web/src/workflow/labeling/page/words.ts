/** The words of a page: finding them by place, ordering them, and making a value of them. */
import type { Evidence } from '../model/tags';
import { type Box, centerOf, contains, joinBoxes, type Point, roundBox, toBox } from './geometry';

export interface Word {
  readonly page: number;
  /** Its position among the words of the page, in reading order. */
  readonly index: number;
  readonly text: string;
  readonly box: Box;
  readonly start: number;
  readonly end: number;
}

interface RawWord {
  text: string;
  box: number[];
  start: number;
  end: number;
}

const CELLS = 32;
/** How far from a word a click may be and still mean it, in parts of the page. */
const SLACK = 0.006;

/** A grid over the page, so that finding a word does not look at all of them. */
export interface WordIndex {
  readonly words: readonly Word[];
  readonly cells: ReadonlyMap<number, readonly Word[]>;
}

function cellRange(low: number, high: number): [number, number] {
  const clamp = (value: number) => Math.min(CELLS - 1, Math.max(0, Math.floor(value * CELLS)));
  return [clamp(low), clamp(high)];
}

function* cellsOf(box: Box): Generator<number> {
  const [left, right] = cellRange(box[0], box[2]);
  const [top, bottom] = cellRange(box[1], box[3]);
  for (let row = top; row <= bottom; row += 1)
    for (let column = left; column <= right; column += 1) yield row * CELLS + column;
}

export function buildIndex(page: number, raw: readonly RawWord[]): WordIndex {
  const words: Word[] = [];
  const cells = new Map<number, Word[]>();
  for (const { text, box: numbers, start, end } of raw) {
    const box = toBox(numbers);
    if (!box) continue;
    const word = { page, index: words.length, text, box, start, end };
    words.push(word);
    for (const cell of cellsOf(box)) {
      const own = cells.get(cell);
      if (own) own.push(word);
      else cells.set(cell, [word]);
    }
  }
  return { words, cells };
}

function distance(box: Box, point: Point): number {
  const x = Math.max(box[0] - point.x, 0, point.x - box[2]);
  const y = Math.max(box[1] - point.y, 0, point.y - box[3]);
  return Math.hypot(x, y);
}

/** The word at a point, or the nearest within the slack. */
export function wordAt(index: WordIndex, point: Point): Word | undefined {
  const around: Box = [point.x - SLACK, point.y - SLACK, point.x + SLACK, point.y + SLACK];
  let best: Word | undefined;
  let bestDistance = SLACK;
  for (const cell of cellsOf(around))
    for (const word of index.cells.get(cell) ?? []) {
      if (contains(word.box, point)) return word;
      const here = distance(word.box, point);
      if (here < bestDistance) [best, bestDistance] = [word, here];
    }
  return best;
}

/** The words whose middle is inside a box, in reading order. */
export function wordsIn(index: WordIndex, box: Box): Word[] {
  const found = new Set<Word>();
  for (const cell of cellsOf(box))
    for (const word of index.cells.get(cell) ?? [])
      if (contains(box, centerOf(word.box))) found.add(word);
  return [...found].sort((one, other) => one.index - other.index);
}

/** The words from one to the other in reading order, as a selection of text has them. */
export function wordsBetween(index: WordIndex, one: Word, other: Word): Word[] {
  const [first, last] = [one.index, other.index].sort((a, b) => a - b);
  return index.words.slice(first, (last ?? 0) + 1);
}

const NO_SPACES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

function isGap(before: Word, after: Word): boolean {
  if (before.page === after.page && after.start === before.end) return false;
  const last = /.$/su.exec(before.text)?.[0] ?? '';
  const first = /^./su.exec(after.text)?.[0] ?? '';
  // Japanese and Chinese go on in the next line without a space.
  return !(NO_SPACES.test(last) && NO_SPACES.test(first) && after.start - before.end <= 1);
}

/** The text of words in reading order: words that touch in the document's text touch here. */
export function joinWords(words: readonly Word[]): string {
  let text = '';
  words.forEach((word, position) => {
    const before = words[position - 1];
    text += before && isGap(before, word) ? ` ${word.text}` : word.text;
  });
  return text;
}

function isSameLine(one: Word, other: Word): boolean {
  const middle = centerOf(other.box).y;
  return one.page === other.page && middle > one.box[1] && middle < one.box[3];
}

/** Splits words in reading order into runs that are next to each other in text and on a line. */
function splitRuns(words: readonly Word[]): Word[][] {
  const runs: Word[][] = [];
  for (const word of words) {
    const run = runs.at(-1);
    const before = run?.at(-1);
    if (run && before && before.index + 1 === word.index && isSameLine(before, word))
      run.push(word);
    else runs.push([word]);
  }
  return runs;
}

function buildPiece(words: readonly Word[]): Evidence | undefined {
  const [first, last] = [words[0], words.at(-1)];
  if (!first || !last) return undefined;
  const box = joinBoxes(words.filter((word) => word.page === first.page).map((word) => word.box));
  return {
    page: first.page,
    box: roundBox(box),
    start: Math.min(...words.map((word) => word.start)),
    end: Math.max(...words.map((word) => word.end)),
    // The service fills in the text of the document at these offsets.
    text: null,
  };
}

/** The places of a value: one per line of words that are next to each other. */
export function buildEvidence(words: readonly Word[]): Evidence[] {
  return splitRuns(words).flatMap((run) => buildPiece(run) ?? []);
}

/** The place of a span: all of it, from the first word to the last. */
export function buildSpan(words: readonly Word[]): Evidence[] {
  const piece = buildPiece(words);
  return piece ? [piece] : [];
}

export type Direction = 'left' | 'right' | 'up' | 'down';

/** Whether the line of a word is read from right to left, as most of Arabic and Hebrew is. */
function isRightToLeft(index: WordIndex, word: Word): boolean {
  const places = index.words
    .filter((other) => isSameLine(word, other))
    .map(({ box }) => centerOf(box).x);
  const isBefore = (place: number, at: number) => at > 0 && place < (places[at - 1] ?? place);
  // Numbers and names in a line may go the other way.
  return places.filter(isBefore).length > (places.length - 1) / 2;
}

/** Returns the direction in the order of reading, in which the next word is at the right. */
export function readingDirection(index: WordIndex, word: Word, direction: Direction): Direction {
  if (direction !== 'left' && direction !== 'right') return direction;
  if (!isRightToLeft(index, word)) return direction;
  return direction === 'left' ? 'right' : 'left';
}

/** The word that an arrow key leads to: the next in reading order, or the nearest in another line. */
export function moveFrom(index: WordIndex, word: Word, direction: Direction): Word {
  if (direction === 'left') return index.words[word.index - 1] ?? word;
  if (direction === 'right') return index.words[word.index + 1] ?? word;
  const from = centerOf(word.box);
  const height = word.box[3] - word.box[1];
  let best = word;
  let least = Infinity;
  for (const other of index.words) {
    const to = centerOf(other.box);
    const down = direction === 'down' ? to.y - from.y : from.y - to.y;
    if (down < height / 2) continue;
    const sideways = Math.max(other.box[0] - from.x, 0, from.x - other.box[2]);
    // A line further costs more than a column further.
    const cost = down * 3 + sideways;
    if (cost < least) [best, least] = [other, cost];
  }
  return best;
}

/** The words that a text is found in, ignoring case; a text may go over several words. */
export function findWords(index: WordIndex, text: string): Word[][] {
  const wanted = text.trim().toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const [first] = wanted;
  if (first === undefined) return [];
  const lower = index.words.map((word) => word.text.toLocaleLowerCase());
  const found: Word[][] = [];
  index.words.forEach((word, at) => {
    const hits = wanted.every((part, offset) => {
      const here = lower[at + offset];
      if (here === undefined) return false;
      return wanted.length === 1 ? here.includes(part) : here.startsWith(part);
    });
    if (hits) found.push(index.words.slice(word.index, word.index + wanted.length));
  });
  return found;
}
