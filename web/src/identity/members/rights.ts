/** What a member may do to another one, as the API decides it. */
import { rolesUpTo, type Role } from '@/identity/pickers';

export interface Caller {
  id: string;
  role: Role;
}

interface Other {
  id: string;
  role: Role;
}

const isAdmin = (caller: Caller) => caller.role === 'admin' || caller.role === 'owner';

/** Returns the roles that the caller may give to the other member; fewer than two: none to choose. */
export function rolesToGive(caller: Caller, other: Other): readonly Role[] {
  if (!isAdmin(caller)) return [];
  if (other.role === 'owner' && caller.role !== 'owner') return [];
  return rolesUpTo(caller.role);
}

export function mayRemove(caller: Caller, other: Other): boolean {
  if (caller.id === other.id) return true;
  return isAdmin(caller) && (other.role !== 'owner' || caller.role === 'owner');
}
