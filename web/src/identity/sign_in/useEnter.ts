import { useRouter } from '@tanstack/react-router';
import { useCallback } from 'react';
import { queryClient } from '@/kit/api/queryClient';
import type { Schemas } from '@/kit/api/types';
import { setCurrentOrganization } from '@/kit/session/organization';
import { startSession } from '@/kit/session/store';
import { safeNext } from './next';

/** Returns a function that starts the session of a login and goes to the next page. */
export function useEnter() {
  const router = useRouter();
  return useCallback(
    (login: Schemas['LoginResult'], next?: string, organization?: string) => {
      queryClient.clear();
      startSession(login);
      if (organization !== undefined) setCurrentOrganization(organization);
      const target = safeNext(next);
      if (target === undefined) void router.navigate({ to: '/', replace: true });
      else router.history.replace(target);
    },
    [router],
  );
}
