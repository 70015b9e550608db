import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';

/** Returns what reads everything about webhooks again, after a change. */
export function useRefresh(): () => void {
  const client = useQueryClient();
  return useCallback(() => {
    void client.invalidateQueries({
      predicate: ({ queryKey }) => String(queryKey[1]).startsWith('/api/v1/webhooks'),
    });
  }, [client]);
}
