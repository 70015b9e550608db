import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Users } from 'lucide-react';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';
import type { Role } from '@/identity/pickers';
import { readChoice, readId, readText } from '@/kit/lists/search';

const ROLES = ['viewer', 'labeler', 'reviewer', 'admin', 'owner'] as const;
const SORTS = ['name', '-name', 'joined_at', '-joined_at'] as const;

export interface MembersSearch {
  q?: string | undefined;
  role?: Role | undefined;
  team_id?: string | undefined;
  sort?: (typeof SORTS)[number] | undefined;
  cursor?: string | undefined;
}

export const membersRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/members',
  validateSearch: (search: Record<string, unknown>): MembersSearch => ({
    q: readText(search, 'q'),
    role: readChoice(search, 'role', ROLES),
    team_id: readId(search, 'team_id'),
    sort: readChoice(search, 'sort', SORTS),
    cursor: readText(search, 'cursor'),
  }),
  component: lazyRouteComponent(() => import('./MembersPage'), 'MembersPage'),
});

export const routes = [membersRoute] as const;

export const navigation: NavigationItem[] = [
  {
    to: '/members',
    label: 'members',
    icon: Users,
    group: 'settings',
    permission: 'members:read',
  },
];
