import type { useRouter } from '@tanstack/react-router';
import { api } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
import { mayLeave } from '@/kit/forms/unsaved';
import { setCurrentOrganization } from './organization';
import { endSession, readSession } from './store';

const LOGOUT_MILLISECONDS = 3_000;

type Router = ReturnType<typeof useRouter>;

/** Goes to another organization; nothing that was read for the old one stays. */
export async function switchOrganization(router: Router, slug: string): Promise<void> {
  if (!(await mayLeave())) return;
  queryClient.clear();
  setCurrentOrganization(slug);
  await router.navigate({ to: '/', ignoreBlocker: true });
  await router.invalidate();
}

/** Ends the session at the service and in all tabs, and shows the sign-in page. */
export async function signOut(router: Router): Promise<void> {
  if (!(await mayLeave())) return;
  if (readSession()) {
    // The session ends here even if the service does not answer.
    const signal = AbortSignal.timeout(LOGOUT_MILLISECONDS);
    await api.POST('/api/v1/auth/logout', { signal }).catch(() => undefined);
  }
  endSession();
  queryClient.clear();
  await router.navigate({ to: '/sign-in', ignoreBlocker: true });
}
