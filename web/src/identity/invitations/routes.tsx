import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readChoice, readText } from '@/kit/lists/search';
import { workRoute } from '@/kit/routing/roots';

const STATUSES = ['open', 'expired', 'accepted', 'revoked'] as const;
const SORTS = ['created_at', '-created_at', 'email', '-email'] as const;

export interface InvitationsSearch {
  status?: (typeof STATUSES)[number] | undefined;
  sort?: (typeof SORTS)[number] | undefined;
  cursor?: string | undefined;
}

export const invitationsRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/members/invitations',
  validateSearch: (search: Record<string, unknown>): InvitationsSearch => ({
    status: readChoice(search, 'status', STATUSES),
    sort: readChoice(search, 'sort', SORTS),
    cursor: readText(search, 'cursor'),
  }),
  component: lazyRouteComponent(() => import('./InvitationsPage'), 'InvitationsPage'),
});

export const routes = [invitationsRoute] as const;
