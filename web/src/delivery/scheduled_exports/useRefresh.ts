import { useQueryClient } from '@tanstack/react-query';

/** Returns what reads everything about exports again, after a change. */
export function useRefresh(): () => void {
  const client = useQueryClient();
  return () =>
    void client.invalidateQueries({
      predicate: ({ queryKey }) => String(queryKey[1]).startsWith('/api/v1/exports'),
    });
}
