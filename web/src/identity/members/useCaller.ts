import { ROLES } from '@/identity/pickers';
import { currentRole } from '@/kit/session/may';
import { useSession } from '@/kit/session/store';
import type { Caller } from './rights';

/** The signed-in user with the role in this organization. */
export function useCaller(): Caller | undefined {
  const session = useSession();
  const role = ROLES.find((one) => one === currentRole());
  return session && role ? { id: session.user.id, role } : undefined;
}
