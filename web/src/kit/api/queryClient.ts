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
