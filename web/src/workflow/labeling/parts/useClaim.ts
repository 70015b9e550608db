import { useEffect } from 'react';
import { $api } from '@/kit/api/client';
import { isApiError } from '@/kit/api/errors';
import { isFinalError } from '@/kit/api/polling';
import type { Session } from '../model/session';

/** Renewed this often while somebody works; organizations may set claims of a few minutes only. */
const INTERVAL = 120_000;
const ACTIVE_WITHIN = 300_000;

/** Keeps the claim on a document while it is worked on; returns why that failed, if it did. */
export function useClaim(artifactId: string, session: Session | undefined): Error | null {
  const claim = $api.useMutation('post', '/api/v1/artifacts/{artifact_id}/claim');
  const { mutate } = claim;
  useEffect(() => {
    if (!session) return;
    const timer = setInterval(() => {
      const isActive = session.stopwatch.isActive(Date.now(), ACTIVE_WITHIN);
      if (isActive && document.visibilityState === 'visible')
        mutate(
          { params: { path: { artifact_id: artifactId } } },
          { onError: (failure) => isFinalError(failure) && clearInterval(timer) },
        );
    }, INTERVAL);
    return () => clearInterval(timer);
  }, [artifactId, session, mutate]);
  // Without a network the claim is the least worry; the next attempt follows.
  const error: unknown = claim.error;
  return isApiError(error) && error.status >= 400 && error.status < 500 ? error : null;
}
