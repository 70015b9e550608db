import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Waves } from 'lucide-react';
import { readChoice, readId, readText } from '@/kit/lists/search';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';
import { STATUSES, SUBJECTS } from './kinds';

export interface DriftSearch {
  schema_id?: string | undefined;
  status?: (typeof STATUSES)[number] | undefined;
  subject?: (typeof SUBJECTS)[number] | undefined;
  detection_id?: string | undefined;
  cursor?: string | undefined;
}

export const driftRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/drift',
  validateSearch: (search: Record<string, unknown>): DriftSearch => ({
    schema_id: readId(search, 'schema_id'),
    status: readChoice(search, 'status', STATUSES),
    subject: readChoice(search, 'subject', SUBJECTS),
    detection_id: readId(search, 'detection_id'),
    cursor: readText(search, 'cursor'),
  }),
  component: lazyRouteComponent(() => import('./DriftPage'), 'DriftPage'),
});

export const routes = [driftRoute] as const;

export const navigation: NavigationItem[] = [
  { to: '/drift', label: 'drift', icon: Waves, group: 'insight', permission: 'drift:read' },
];
