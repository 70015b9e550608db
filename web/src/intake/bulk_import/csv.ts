/** The beginning of a CSV file: its columns, its first rows, and another header for it. */

const DELIMITERS = [',', ';', '\t', '|'];
/** Excel's first line, which states the delimiter. */
const STATED = /^"?sep=([,;\t|])"?[ \t]*(?:\r?\n|\r?$)/i;

export interface CsvStart {
  delimiter: string;
  columns: string[];
  rows: string[][];
  /** The number of characters of the header with its end of line, and of what is before it. */
  headerLength: number;
}

/** Returns the most frequent delimiter of the first line, as the service chooses it. */
export function findDelimiter(text: string): string {
  const line = text.slice(0, endOfLine(text, ','));
  const count = (delimiter: string) => line.split(delimiter).length;
  return DELIMITERS.reduce((best, one) => (count(one) > count(best) ? one : best));
}

function endOfLine(text: string, delimiter: string): number {
  return readRecord(text, 0, delimiter).end;
}

/** Reads one record; its cells may be quoted and then hold line breaks. */
function readRecord(text: string, start: number, delimiter: string) {
  const cells: string[] = [];
  let cell = '';
  let quoted = false;
  let index = start;
  for (; index < text.length; index += 1) {
    const char = text[index] ?? '';
    if (quoted) {
      if (char !== '"') cell += char;
      else if (text[index + 1] === '"') {
        cell += '"';
        index += 1;
      } else quoted = false;
    } else if (char === '"' && cell === '') quoted = true;
    else if (char === delimiter) {
      cells.push(cell);
      cell = '';
    } else if (char === '\n' || char === '\r') break;
    else cell += char;
  }
  cells.push(cell);
  let next = index;
  if (text[next] === '\r') next += 1;
  if (text[next] === '\n') next += 1;
  return { cells, end: index, next, isWhole: index < text.length };
}

/** Reads the beginning of a file; a row that is cut off is left out. */
export function readCsv(text: string, count: number, isWholeFile: boolean): CsvStart {
  const content = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const [stated = '', own] = STATED.exec(content) ?? [];
  const delimiter = own ?? findDelimiter(content);
  const header = readRecord(content, stated.length, delimiter);
  const rows: string[][] = [];
  let position = header.next;
  while (rows.length < count && position < content.length) {
    const record = readRecord(content, position, delimiter);
    if (record.isWhole || isWholeFile) rows.push(record.cells);
    position = record.next;
  }
  const headerLength = header.next + (text.length - content.length);
  return { delimiter, columns: header.cells, rows, headerLength };
}

/** What a column becomes: one of these members, or metadata under its own name. */
export const TARGETS = ['text', 'name', 'external_id'] as const;
export type Target = (typeof TARGETS)[number] | 'metadata';

const SYNONYMS: Record<string, Target> = {
  ...{ text: 'text', content: 'text', body: 'text', document: 'text', message: 'text' },
  ...{ name: 'name', filename: 'name', title: 'name', file: 'name' },
  ...{ external_id: 'external_id', id: 'external_id', key: 'external_id' },
};

/** Returns what each column most likely is; each member is used once. */
export function guessTargets(columns: readonly string[]): Target[] {
  const used = new Set<Target>();
  const exact = new Set<string>(columns);
  return columns.map((column) => {
    const guess = SYNONYMS[column.trim().toLowerCase()] ?? 'metadata';
    const isTaken = guess !== column && exact.has(guess);
    if (guess === 'metadata' || used.has(guess) || isTaken) return 'metadata';
    used.add(guess);
    return guess;
  });
}

/** Returns the header that gives each column its target; metadata must not take a member's name. */
export function mappedHeader(start: CsvStart, targets: readonly Target[]): string {
  const quote = (cell: string) =>
    /["\r\n]/.test(cell) || cell.includes(start.delimiter)
      ? `"${cell.replaceAll('"', '""')}"`
      : cell;
  const names = start.columns.map((column, index) => {
    const target = targets[index] ?? 'metadata';
    if (target !== 'metadata') return target;
    return TARGETS.some((one) => one === column) ? `${column}_column` : column;
  });
  return `${names.map(quote).join(start.delimiter)}\n`;
}

/** Returns whether the file can stay as it is. */
export function isUnchanged(start: CsvStart, targets: readonly Target[]): boolean {
  return start.columns.every((column, index) => {
    const target = targets[index];
    const isMember = TARGETS.some((one) => one === column);
    return target === 'metadata' ? !isMember : target === column;
  });
}
