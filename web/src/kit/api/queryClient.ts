import { QueryClient } from '@tanstack/react-query';
import { isApiError } from './errors';

const ATTEMPTS = 3;

/** Retries what can succeed later: no answer, or an error of the server. */
export function shouldRetry(failures: number, error: unknown): boolean {
  const isPassing = !isApiError(error) || error.status === 0 || error.status >= 500;
  return isPassing && failures < ATTEMPTS;
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: shouldRetry, staleTime: 5_000, refetchOnWindowFocus: true },
    mutations: { retry: false },
  },
});

/** Reads again all that was read below these paths of the API, such as `/api/v1/webhooks`. */
export function refreshBelow(...paths: readonly string[]): void {
  void queryClient.invalidateQueries({
    predicate: ({ queryKey }) => paths.some((path) => String(queryKey[1]).startsWith(path)),
  });
}
