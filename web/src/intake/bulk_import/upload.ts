import { addCredentials, offline } from '@/kit/api/client';
import { ApiError } from '@/kit/api/errors';
import type { Schemas } from '@/kit/api/types';
import { basePath } from '@/kit/environment';
import { renewSession } from '@/kit/session/renewal';
import { readSession } from '@/kit/session/store';

const PATH = '/api/v1/artifacts/bulk-import';

interface Answer {
  data?: Schemas['IngestionJob'];
  error?: Schemas['ErrorBody'];
}

function sendOnce(
  form: FormData,
  key: string,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<{ status: number; answer: Answer }> {
  return new Promise((resolve, reject) => {
    // `fetch` does not say how much it has sent.
    const request = new XMLHttpRequest();
    request.open('POST', `${basePath}${PATH}`);
    const headers = new Headers({ 'Idempotency-Key': key });
    addCredentials(headers);
    headers.forEach((value, name) => request.setRequestHeader(name, value));
    request.upload.onprogress = ({ loaded, total }) => onProgress(total ? loaded / total : 0);
    request.onload = () => {
      let answer: Answer = {};
      try {
        answer = JSON.parse(request.responseText) as Answer;
      } catch {
        // A proxy answered with something else.
      }
      resolve({ status: request.status, answer });
    };
    request.onerror = () => reject(offline());
    request.onabort = () => reject(new DOMException('Aborted', 'AbortError'));
    signal.addEventListener('abort', () => request.abort());
    request.send(form);
  });
}

/** Uploads a file with progress, and returns the job that imports it. */
export async function uploadRecords(
  form: FormData,
  key: string,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<Schemas['IngestionJob']> {
  const token = readSession()?.token;
  let { status, answer } = await sendOnce(form, key, onProgress, signal);
  if (status === 401 && (await renewSession(token)))
    ({ status, answer } = await sendOnce(form, key, onProgress, signal));
  if (answer.data) return answer.data;
  throw new ApiError(status, answer.error ?? { code: 'http_error', message: `${status}` });
}
