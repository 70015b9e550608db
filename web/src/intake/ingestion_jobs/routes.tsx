import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Import } from 'lucide-react';
import { readCursor, readOption } from '@/kit/routing/search';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';
import { ITEM_STATUSES, JOB_KINDS, STATUSES } from './values';

export const jobsRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/imports',
  validateSearch: (search: Record<string, unknown>) => ({
    ...readCursor(search),
    ...readOption(search, 'status', STATUSES),
    ...readOption(search, 'kind', JOB_KINDS),
  }),
  component: lazyRouteComponent(() => import('./JobsPage'), 'JobsPage'),
});

export const jobRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/imports/$jobId',
  validateSearch: (search: Record<string, unknown>) => ({
    ...readCursor(search),
    ...readOption(search, 'status', ITEM_STATUSES),
  }),
  component: lazyRouteComponent(() => import('./JobPage'), 'JobPage'),
});

export const routes = [jobsRoute, jobRoute] as const;

export const navigation: NavigationItem[] = [
  {
    to: '/imports',
    label: 'imports',
    icon: Import,
    group: 'data',
    permission: 'ingestion_jobs:read',
  },
];
