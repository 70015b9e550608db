import { useEffect } from 'react';
import { $api } from '@/kit/api/client';
import { readSession, updateSession } from './store';

const STALE_MILLISECONDS = 60_000;

/** Keeps the user's name, organizations and roles as the service knows them now. */
export function useCurrentRoles(): void {
  const { data } = $api.useQuery(
    'get',
    '/api/v1/auth/session',
    {},
    { staleTime: STALE_MILLISECONDS },
  );
  useEffect(() => {
    const session = readSession();
    if (!data || !session) return;
    const { user, organizations } = data.data;
    const current = JSON.stringify([session.user, session.organizations]);
    if (current !== JSON.stringify([user, organizations])) updateSession({ user, organizations });
  }, [data]);
}
