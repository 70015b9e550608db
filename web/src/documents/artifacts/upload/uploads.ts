/** The files that are being sent. They go on while the user works on other pages. */
import { useSyncExternalStore } from 'react';
import { isApiError } from '@/kit/api/errors';
import { randomKey } from '@/kit/api/idempotency';
import { refreshDocuments } from '../useDocuments';
import type { ChosenFile } from './files';
import { requireOrganization } from '@/kit/session/organization';
import { readSession, subscribe } from '@/kit/session/store';
import { sendFile } from './sending';

export interface Upload {
  id: string;
  /** The path inside a folder that was dropped or chosen, or the name of the file. */
  path: string;
  size: number;
  state: 'waiting' | 'sending' | 'done' | 'failed';
  /** From 0 to 1. */
  progress: number;
  /** A code of the API, `offline` or `stopped`. */
  code?: string;
  message?: string;
  artifactId?: string;
  file: File;
  schemaId: string | undefined;
  /** The one in which the file was chosen; the user may go on to another one meanwhile. */
  organization: string;
}

const AT_ONCE = 3;
const LONGEST_NAME = 255;
const LONGEST_FOLDER = 1000;
let uploads: readonly Upload[] = [];
const listeners = new Set<() => void>();
const stops = new Map<string, AbortController>();

function set(next: readonly Upload[]): void {
  uploads = next;
  for (const listener of listeners) listener();
}

function change(id: string, changes: Partial<Upload>): void {
  set(uploads.map((upload) => (upload.id === id ? { ...upload, ...changes } : upload)));
}

async function run(upload: Upload): Promise<void> {
  const stop = new AbortController();
  stops.set(upload.id, stop);
  change(upload.id, { state: 'sending', progress: 0 });
  try {
    const { data } = await sendFile({
      file: upload.file,
      ...splitPath(upload.path),
      schemaId: upload.schemaId,
      organization: upload.organization,
      key: upload.id,
      signal: stop.signal,
      onProgress: (progress) => change(upload.id, { progress }),
    });
    change(upload.id, { state: 'done', progress: 1, artifactId: data.id });
  } catch (error) {
    change(upload.id, { state: 'failed', ...describe(error) });
  } finally {
    stops.delete(upload.id);
    startNext();
  }
}

function describe(error: unknown): Pick<Upload, 'code' | 'message' | 'artifactId'> {
  if (!isApiError(error)) return { code: 'unknown', message: String(error) };
  const held = error.details['artifact_id'];
  return {
    code: error.code,
    message: error.message,
    ...(typeof held === 'string' && { artifactId: held }),
  };
}

function startNext(): void {
  const sending = uploads.filter(({ state }) => state === 'sending').length;
  const waiting = uploads.filter(({ state }) => state === 'waiting');
  for (const upload of waiting.slice(0, AT_ONCE - sending)) void run(upload);
  if (sending === 0 && waiting.length === 0) void refreshDocuments();
}

/** Returns the name of the document, and the folder in which the file was. */
export function splitPath(path: string): { name: string; folder: string } {
  const end = path.lastIndexOf('/');
  return {
    name: path.slice(end + 1).slice(-LONGEST_NAME),
    folder: path.slice(0, Math.max(end, 0)).slice(-LONGEST_FOLDER),
  };
}

export function addUploads(files: readonly ChosenFile[], schemaId: string | undefined): void {
  const organization = requireOrganization();
  const added = files.map(({ file, path }) => ({
    id: randomKey(),
    path,
    size: file.size,
    state: 'waiting' as const,
    progress: 0,
    file,
    schemaId,
    organization,
  }));
  set([...uploads, ...added]);
  startNext();
}

export function retryUploads(): void {
  set(
    uploads.map((upload) =>
      upload.state === 'failed' && upload.code !== 'artifact_duplicate'
        ? { ...upload, state: 'waiting', progress: 0 }
        : upload,
    ),
  );
  startNext();
}

/** Stops what has not been sent yet. */
export function stopUploads(): void {
  set(
    uploads.map((upload) =>
      upload.state === 'waiting' ? { ...upload, state: 'failed', code: 'stopped' } : upload,
    ),
  );
  for (const stop of stops.values()) stop.abort();
}

/** Forgets those that are finished. */
export function clearUploads(): void {
  set(uploads.filter(({ state }) => state === 'waiting' || state === 'sending'));
}

// Whoever signs in next neither sees nor sends the files of somebody else.
subscribe(() => {
  if (readSession() !== undefined || uploads.length === 0) return;
  stopUploads();
  set([]);
});

export function useUploads(): readonly Upload[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => uploads,
  );
}

export interface Summary {
  total: number;
  done: number;
  failed: number;
  /** The share of all bytes that are sent, from 0 to 1. */
  progress: number;
  isRunning: boolean;
}

export function summarize(list: readonly Upload[]): Summary {
  const bytes = list.reduce((sum, { size }) => sum + Math.max(size, 1), 0);
  const sent = list.reduce((sum, { size, progress, state }) => {
    const share = state === 'failed' || state === 'done' ? 1 : progress;
    return sum + Math.max(size, 1) * share;
  }, 0);
  return {
    total: list.length,
    done: list.filter(({ state }) => state === 'done').length,
    failed: list.filter(({ state }) => state === 'failed').length,
    progress: bytes === 0 ? 0 : sent / bytes,
    isRunning: list.some(({ state }) => state === 'waiting' || state === 'sending'),
  };
}
