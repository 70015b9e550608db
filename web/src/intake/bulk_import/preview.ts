/** What is in a file, before it is sent: found in its first bytes, in the browser. */
import { type CsvStart, readCsv } from './csv';

export type FileFormat = 'csv' | 'jsonl' | 'zip' | 'json';

export interface FilePreview {
  format: FileFormat;
  csv?: CsvStart;
  /** The first records of JSON Lines. */
  records?: Record<string, unknown>[];
  /** A line that is no JSON object. */
  badLine?: number;
}

const FIRST_BYTES = 256 * 1024;
const ROWS = 5;
/** A character has at most so many bytes. */
const MOST_BYTES = 4;

/** Reads the first lines of JSON Lines; the last one may be cut off. */
export function readLines(text: string, isWholeFile: boolean): FilePreview {
  const lines = text.split('\n');
  if (!isWholeFile) lines.pop();
  const records: Record<string, unknown>[] = [];
  for (const [index, line] of lines.entries()) {
    if (records.length === ROWS) break;
    if (line.trim() === '') continue;
    try {
      const value: unknown = JSON.parse(line);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) throw Error();
      records.push(value as Record<string, unknown>);
    } catch {
      return { format: 'jsonl', records, badLine: index + 1 };
    }
  }
  return { format: 'jsonl', records };
}

/** Recognizes a file by its beginning, as the service does. */
export function readPreview(text: string, isWholeFile: boolean): FilePreview {
  const start = text.trimStart();
  if (text.startsWith('PK')) return { format: 'zip' };
  if (start.startsWith('[')) return { format: 'json' };
  if (start.startsWith('{')) return readLines(text.replace(/^\uFEFF/, ''), isWholeFile);
  return { format: 'csv', csv: readCsv(text, ROWS, isWholeFile) };
}

/** Reads the beginning of a file as it is: `text()` would leave out a byte order mark. */
async function readStart(file: File, size: number): Promise<string> {
  const bytes = await file.slice(0, size).arrayBuffer();
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

export async function previewFile(file: File): Promise<FilePreview> {
  return readPreview(await readStart(file, FIRST_BYTES), file.size <= FIRST_BYTES);
}

/** Returns the file with another header. The rest is not read, so its size does not matter. */
export async function replaceHeader(file: File, start: CsvStart, header: string): Promise<File> {
  const text = await readStart(file, start.headerLength * MOST_BYTES);
  const bytes = new TextEncoder().encode(text.slice(0, start.headerLength)).length;
  return new File([header, file.slice(bytes)], file.name, { type: file.type });
}
