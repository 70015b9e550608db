import { MutationCache, QueryClient } from '@tanstack/react-query';
import { isApiError } from './errors';

const ATTEMPTS = 3;

/** Retries what can succeed later: no answer, or an error of the server. */
export function shouldRetry(failures: number, error: unknown): boolean {
  const isPassing = !isApiError(error) || error.status === 0 || error.status >= 500;
  return isPassing && failures < ATTEMPTS;
}

export const queryClient = new QueryClient({
  mutationCache: new MutationCache({
    // What is shown is old: the next attempt is based on what the user then sees.
    onError(error) {
      if (isApiError(error, 'stale_precondition')) void refreshRecords();
    },
  }),
  defaultOptions: {
    queries: { retry: shouldRetry, staleTime: 5_000, refetchOnWindowFocus: true },
    // What the user has given up must not be sent when the network is back.
    mutations: { retry: false, networkMode: 'always' },
  },
});

/**
 * Returns whether a call of an operation is under way. `isPending` of its hook says so one rendering
 * later: a key that is pressed twice is faster.
 */
export function isCalling(path: string): boolean {
  return queryClient.isMutating({ mutationKey: ['post', path] }) > 0;
}

/** Reads again all records that are shown. */
export function refreshRecords(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['get'] });
}

/** Reads again all that was read below these paths of the API, such as `/api/v1/webhooks`. */
export function refreshBelow(...paths: readonly string[]): void {
  void queryClient.invalidateQueries({
    predicate: ({ queryKey }) => paths.some((path) => String(queryKey[1]).startsWith(path)),
  });
}
