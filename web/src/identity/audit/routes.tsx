import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { readChoice, readDay, readId, readText } from '@/kit/lists/search';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';
import { ACTORS } from './kinds';

export interface AuditSearch {
  actor_id?: string | undefined;
  actor_kind?: (typeof ACTORS)[number] | undefined;
  action?: string | undefined;
  target_type?: string | undefined;
  target_id?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  cursor?: string | undefined;
}

export const auditRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/audit',
  validateSearch: (search: Record<string, unknown>): AuditSearch => ({
    actor_id: readId(search, 'actor_id'),
    actor_kind: readChoice(search, 'actor_kind', ACTORS),
    action: readText(search, 'action'),
    target_type: readText(search, 'target_type'),
    target_id: readId(search, 'target_id'),
    from: readDay(search, 'from'),
    to: readDay(search, 'to'),
    cursor: readText(search, 'cursor'),
  }),
  component: lazyRouteComponent(() => import('./AuditPage'), 'AuditPage'),
});

export const routes = [auditRoute] as const;

export const navigation: NavigationItem[] = [
  {
    to: '/audit',
    label: 'audit',
    icon: ScrollText,
    group: 'settings',
    permission: 'audit_log:read',
  },
];
