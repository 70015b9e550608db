/** Sends one file. fetch cannot say how much has been sent, so this is a request of the older kind. */
import { addCredentials } from '@/kit/api/client';
import { ApiError } from '@/kit/api/errors';
import type { Schemas } from '@/kit/api/types';
import { basePath } from '@/kit/environment';
import { renewSession } from '@/kit/session/renewal';
import { readSession } from '@/kit/session/store';

export interface Sending {
  file: File;
  name: string;
  /** The folder of the file becomes metadata; names of documents have no slashes. */
  folder: string;
  schemaId: string | undefined;
  organization: string | undefined;
  /** The same key for each attempt: a file whose answer was lost is not held twice. */
  key: string;
  signal: AbortSignal;
  onProgress: (share: number) => void;
}

type Answer = Schemas['ArtifactResponse'];

function parse(request: XMLHttpRequest): { error?: Schemas['ErrorBody'] } & Partial<Answer> {
  try {
    return JSON.parse(request.responseText) as Partial<Answer>;
  } catch {
    return {};
  }
}

function send(sending: Sending): Promise<Answer> {
  const { file, name, folder, schemaId, organization, key, signal, onProgress } = sending;
  const form = new FormData();
  if (schemaId !== undefined) form.set('schema_id', schemaId);
  form.set('name', name);
  if (folder !== '') form.set('metadata', JSON.stringify({ folder }));
  form.set('file', file, name);
  const request = new XMLHttpRequest();
  request.open('POST', `${basePath}/api/v1/artifacts`);
  const headers = new Headers({ 'Idempotency-Key': key });
  if (organization !== undefined) headers.set('X-Org-Slug', organization);
  addCredentials(headers);
  headers.forEach((value, header) => request.setRequestHeader(header, value));
  request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
  const stop = () => request.abort();
  signal.addEventListener('abort', stop);
  return new Promise<Answer>((resolve, reject) => {
    request.onload = () => {
      const body = parse(request);
      if (request.status === 201) resolve(body as Answer);
      else {
        const message = `${request.status} ${request.statusText}`;
        reject(new ApiError(request.status, body.error ?? { code: 'http_error', message }));
      }
    };
    request.onerror = () => reject(new ApiError(0, { code: 'offline', message: '' }));
    request.onabort = () => reject(new ApiError(0, { code: 'stopped', message: '' }));
    request.send(form);
  }).finally(() => signal.removeEventListener('abort', stop));
}

/** Sends a file; if the session has ended, signs in again and sends it once more. */
export async function sendFile(sending: Sending): Promise<Answer> {
  const token = readSession()?.token;
  try {
    return await send(sending);
  } catch (error) {
    const ended = error instanceof ApiError && error.status === 401;
    if (!ended || !(await renewSession(token)) || sending.signal.aborted) throw error;
    return send(sending);
  }
}
