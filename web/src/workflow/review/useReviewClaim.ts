import { useEffect } from 'react';
import { $api } from '@/kit/api/client';
import { isFinalError } from '@/kit/api/polling';

const INTERVAL = 120_000;

/** Claims an item when it is opened, and keeps it while the tab is shown. Returns why that failed. */
export function useReviewClaim(itemId: string): Error | null {
  const { mutate, error } = $api.useMutation('post', '/api/v1/review-queue/{item_id}/claim');
  useEffect(() => {
    const claim = () =>
      mutate(
        { params: { path: { item_id: itemId } } },
        { onError: (failure) => isFinalError(failure) && clearInterval(timer) },
      );
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') claim();
    }, INTERVAL);
    claim();
    return () => clearInterval(timer);
  }, [itemId, mutate]);
  return error as Error | null;
}
