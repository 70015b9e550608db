import { roleMay } from '@/kit/session/may';

const ROLES = ['viewer', 'labeler', 'reviewer', 'admin'] as const;
export type GrantableRole = (typeof ROLES)[number];

const OF_ROLE = {
  viewer: 'artifacts:read',
  labeler: 'artifacts:create',
  reviewer: 'tag_sets:review',
  admin: 'api_keys:manage',
} as const;

/** Returns the roles that a key may get: below owner, and not above the caller's. */
export function grantableRoles(own: string | undefined): GrantableRole[] {
  return ROLES.filter((role) => own !== undefined && roleMay(own, OF_ROLE[role]));
}

export const EXPIRY_DAYS = ['30', '90', '365', 'never'] as const;
export type ExpiryDays = (typeof EXPIRY_DAYS)[number];

/** Returns when a key expires that lasts for so many days; null if it never does. */
export function expiryDate(days: ExpiryDays, now: Date): string | null {
  return days === 'never'
    ? null
    : new Date(now.getTime() + Number(days) * 86_400_000).toISOString();
}
