/**
 * Finds the words of a query in a text, much as the search of the service does: whole words,
 * regardless of case and of the encoding of accents, and of common English and German endings.
 */

export interface Hit {
  start: number;
  end: number;
}

interface Token extends Hit {
  word: string;
}

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const PART = /(-?)"([^"]*)"|(-?)(\S+)/gu;
const ENDING = /(ings?|edly|ed|ies|es|ern|en|er|em|s|e|y|n)$/u;

function normalize(word: string): string {
  return word.normalize('NFC').toLowerCase();
}

/** Takes off an ending, so that *tenant* and *tenants* are equal. */
export function stem(word: string): string {
  return word.length > 3 ? word.replace(ENDING, '') || word : word;
}

function tokenize(text: string): Token[] {
  return [...text.matchAll(WORD)].map((match) => ({
    word: stem(normalize(match[0])),
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** Returns the phrases to look for: each a list of words. Words after a minus are left out. */
export function parseQuery(query: string): string[][] {
  const phrases = [...query.matchAll(PART)]
    .filter((match) => match[1] !== '-' && match[3] !== '-')
    .filter((match) => match[4]?.toLowerCase() !== 'or')
    .map((match) => tokenize(match[2] ?? match[4] ?? '').map(({ word }) => word));
  return phrases.filter((phrase) => phrase.length > 0);
}

function matches(tokens: readonly Token[], at: number, phrase: readonly string[]): boolean {
  return phrase.every((word, index) => tokens[at + index]?.word === word);
}

/** Returns where the phrases are in a text, in order and without overlaps; at most `most` of them. */
export function findHits(text: string, phrases: readonly string[][], most = 500): Hit[] {
  if (phrases.length === 0) return [];
  const tokens = tokenize(text);
  const hits: Hit[] = [];
  for (let at = 0; at < tokens.length && hits.length < most; at += 1) {
    const phrase = phrases
      .filter((candidate) => matches(tokens, at, candidate))
      .reduce<readonly string[]>((a, b) => (b.length > a.length ? b : a), []);
    const first = tokens[at];
    const last = tokens[at + phrase.length - 1];
    if (phrase.length === 0 || !first || !last) continue;
    hits.push({ start: first.start, end: last.end });
    at += phrase.length - 1;
  }
  return hits;
}

export interface Piece {
  text: string;
  marked: boolean;
}

/** Cuts a text at its hits. */
export function cutAtHits(text: string, hits: readonly Hit[]): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const { start, end } of hits) {
    if (start > at) pieces.push({ text: text.slice(at, start), marked: false });
    pieces.push({ text: text.slice(start, end), marked: true });
    at = end;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), marked: false });
  return pieces;
}

const BEFORE = 24;
const AFTER = 120;

/** Returns the passage around the first hit, on one line; undefined without a hit. */
export function cutSnippet(text: string, phrases: readonly string[][]): Piece[] | undefined {
  const first = findHits(text, phrases, 1)[0];
  if (!first) return undefined;
  const from = Math.max(0, text.lastIndexOf(' ', Math.max(0, first.start - BEFORE)) + 1);
  const start = first.start - from > BEFORE * 2 ? first.start : from;
  const passage = text.slice(start, first.end + AFTER).replaceAll(/\s+/gu, ' ');
  const pieces = cutAtHits(passage, findHits(passage, phrases));
  return start > 0 ? [{ text: '… ', marked: false }, ...pieces] : pieces;
}
