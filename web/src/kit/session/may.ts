import table from './permissions.json';
import { currentOrganization } from './organization';
import { readSession, useSession } from './store';

export type Permission = keyof typeof table.permissions;
export type Role = (typeof table.permissions)[Permission];

/** Returns whether a role has a permission: it has those of all roles below it. */
export function roleMay(role: string, permission: Permission): boolean {
  return table.roles.indexOf(role) >= table.roles.indexOf(table.permissions[permission]);
}

/** The caller's role in the organization of this tab. */
export function currentRole(): string | undefined {
  const slug = currentOrganization();
  return readSession()?.organizations.find((one) => one.slug === slug)?.role;
}

export function may(permission: Permission): boolean {
  const role = currentRole();
  return role !== undefined && roleMay(role, permission);
}

/** Returns `may` in a component that follows changes of the session. */
export function useMay(): typeof may {
  useSession();
  return may;
}
