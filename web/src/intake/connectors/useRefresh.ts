import { useQueryClient } from '@tanstack/react-query';

const READ_AGAIN = /^\/api\/v1\/(connectors|ingestion-jobs)/;

/** Returns what reads everything about connectors and their jobs again, after a change. */
export function useRefresh(): () => void {
  const client = useQueryClient();
  return () =>
    void client.invalidateQueries({
      predicate: ({ queryKey }) => READ_AGAIN.test(String(queryKey[1])),
    });
}
