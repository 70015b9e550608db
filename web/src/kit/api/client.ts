/**
 * The client of the API. Its types are generated from the description of the service, and every
 * answer that is no success is thrown as `ApiError`.
 */
import i18next from 'i18next';
import createClient, { type Middleware } from 'openapi-fetch';
import createQueryClient from 'openapi-react-query';
import { basePath } from '@/kit/environment';
import { currentOrganization } from '@/kit/session/organization';
import { renewSession } from '@/kit/session/renewal';
import { readSession } from '@/kit/session/store';
import { ApiError, readError } from './errors';
import type { paths } from './schema';

/** Adds the token and the organization to the headers of a request. */
export function addCredentials(headers: Headers): void {
  const session = readSession();
  const organization = currentOrganization();
  if (session) headers.set('Authorization', `Bearer ${session.token}`);
  if (organization && !headers.has('X-Org-Slug')) headers.set('X-Org-Slug', organization);
}

/** Returns the error of a request that got no answer. */
export const offline = () =>
  new ApiError(0, { code: 'offline', message: i18next.t('error.offline') });

async function fetchOrExplain(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw offline();
  }
}

/**
 * Returns whether a request got 401 because of its token. The code of a token that the service
 * cannot verify, for instance since its key was changed, is also that of a wrong password.
 */
async function isTokenRefused(request: Request, response: Response): Promise<boolean> {
  const { code } = await readError(response);
  if (code !== 'invalid_credentials') return code === 'token_expired';
  const session = new URL(`${basePath}/api/v1/auth/session`, request.url);
  if (request.url === session.href) return true;
  // Signing in and changing the password ask for one; what else is wrong shows elsewhere.
  if (request.url.startsWith(new URL('.', session).href)) return false;
  const headers = new Headers();
  addCredentials(headers);
  const check = await fetch(session, { headers }).catch(() => undefined);
  return check?.status === 401;
}

/** Sends a request; if the session has ended, signs in again and sends it once more. */
export async function send(request: Request): Promise<Response> {
  const again = request.clone();
  const response = await fetchOrExplain(request);
  const session = readSession();
  if (response.status !== 401 || !session) return response;
  if (!(await isTokenRefused(request, response))) return response;
  const token = request.headers.get('Authorization')?.replace('Bearer ', '');
  if (!(await renewSession(token))) return response;
  addCredentials(again.headers);
  return fetchOrExplain(again);
}

const middleware: Middleware = {
  onRequest({ request }) {
    addCredentials(request.headers);
  },
  async onResponse({ response }) {
    if (!response.ok) throw await readError(response);
  },
};

/** Calls of the API: `(await api.GET('/api/v1/artifacts')).data`. */
export const api = createClient<paths>({ baseUrl: basePath || '/', fetch: send });
api.use(middleware);

/** Hooks of TanStack Query: `$api.useQuery('get', '/api/v1/artifacts', { params })`. */
export const $api = createQueryClient(api);

/** Returns the body of a call, which exists because failures are thrown. */
export async function unwrap<Body>(call: Promise<{ data?: Body }>): Promise<Body> {
  const { data } = await call;
  return data as Body;
}

/** Reads a file, such as the picture of a page. `path` begins with `/api/v1/`. */
export async function fetchBlob(path: string, signal?: AbortSignal): Promise<Blob> {
  const request = new Request(`${basePath}${path}`, { signal: signal ?? null });
  addCredentials(request.headers);
  const response = await send(request);
  if (!response.ok) throw await readError(response);
  return response.blob();
}
