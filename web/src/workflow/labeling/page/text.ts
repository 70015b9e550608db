/** The text of a document in chunks. The API counts code points, the browser UTF-16 units. */

export interface Chunk {
  readonly text: string;
  /** Code points before the chunk. */
  readonly start: number;
  readonly length: number;
}

const SIZE = 4_000;

export function countPoints(text: string): number {
  let count = 0;
  // Half of a pair of surrogates belongs to the code point before it.
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0xdc00 || unit > 0xdfff) count += 1;
  }
  return count;
}

/** The position in UTF-16 units of a code point. */
export function toUnits(text: string, points: number): number {
  let left = points;
  let at = 0;
  while (at < text.length && left > 0) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
    left -= 1;
  }
  return at;
}

/** Cuts a text at the ends of lines into chunks that the browser lays out one by one. */
export function splitText(text: string): Chunk[] {
  const chunks: Chunk[] = [];
  let from = 0;
  let start = 0;
  while (from < text.length) {
    const line = text.indexOf('\n', Math.min(from + SIZE, text.length));
    const to = line < 0 ? text.length : line + 1;
    const part = text.slice(from, to);
    const length = countPoints(part);
    chunks.push({ text: part, start, length });
    start += length;
    from = to;
  }
  return chunks;
}

export interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A stretch between two places of chunks, without the white space at its ends. */
export function stretchBetween(
  chunks: readonly Chunk[],
  from: { chunk: number; unit: number },
  to: { chunk: number; unit: number },
): Stretch | undefined {
  const text = chunks
    .slice(from.chunk, to.chunk + 1)
    .map((chunk, at, all) => {
      const isLast = at === all.length - 1;
      return chunk.text.slice(at === 0 ? from.unit : 0, isLast ? to.unit : undefined);
    })
    .join('');
  const trimmed = text.trim();
  const first = chunks[from.chunk];
  if (!first || trimmed === '') return undefined;
  const lead = text.length - text.trimStart().length;
  const start =
    first.start + countPoints(first.text.slice(0, from.unit)) + countPoints(text.slice(0, lead));
  return { start, end: start + countPoints(trimmed), text: trimmed };
}

/** The word around a position, by the rules of the language; also where there are no spaces. */
export function wordAround(
  text: string,
  unit: number,
  language: string | undefined,
): { from: number; to: number } | undefined {
  const lineStart = text.lastIndexOf('\n', unit - 1) + 1;
  const lineEnd = text.indexOf('\n', unit);
  const line = text.slice(lineStart, lineEnd < 0 ? undefined : lineEnd);
  const segmenter = new Intl.Segmenter(language, { granularity: 'word' });
  const segment = segmenter.segment(line).containing(Math.min(unit - lineStart, line.length - 1));
  if (!segment?.isWordLike) return undefined;
  const from = lineStart + segment.index;
  return { from, to: from + segment.segment.length };
}
