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
const MARK = '\uFEFF';

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

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

/** Returns the encoding of a file, as the service recognizes it. Excel saves Unicode text as UTF-16. */
async function findEncoding(file: File): Promise<Encoding> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

function encode(text: string, encoding: Encoding): Uint8Array<ArrayBuffer> {
  if (encoding === 'utf-8') return new TextEncoder().encode(text);
  const view = new DataView(new ArrayBuffer(text.length * 2));
  for (let at = 0; at < text.length; at += 1)
    view.setUint16(at * 2, text.charCodeAt(at), encoding === 'utf-16le');
  return new Uint8Array(view.buffer);
}

/** Reads the beginning of a file as it is: `text()` would leave out a byte order mark. */
async function readStart(file: File, size: number, encoding: Encoding): Promise<string> {
  const bytes = await file.slice(0, size).arrayBuffer();
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);
}

export async function previewFile(file: File): Promise<FilePreview> {
  const text = await readStart(file, FIRST_BYTES, await findEncoding(file));
  return readPreview(text, file.size <= FIRST_BYTES);
}

/** Returns the file with another header. The rest is not read, so its size does not matter. */
export async function replaceHeader(file: File, start: CsvStart, header: string): Promise<File> {
  const encoding = await findEncoding(file);
  const text = await readStart(file, start.headerLength * MOST_BYTES, encoding);
  const old = encode(text.slice(0, start.headerLength), encoding);
  const next = encode(encoding === 'utf-8' ? header : MARK + header, encoding);
  return new File([next, file.slice(old.length)], file.name, { type: file.type });
}
