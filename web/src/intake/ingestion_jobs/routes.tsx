import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Import } from 'lucide-react';
import { readChoice, readText } from '@/kit/lists/search';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';
import { ITEM_STATUSES, JOB_KINDS, STATUSES } from './values';

export interface JobsSearch {
  cursor?: string | undefined;
  status?: (typeof STATUSES)[number] | undefined;
  kind?: (typeof JOB_KINDS)[number] | undefined;
}

export const jobsRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/imports',
  validateSearch: (search: Record<string, unknown>): JobsSearch => ({
    cursor: readText(search, 'cursor'),
    status: readChoice(search, 'status', STATUSES),
    kind: readChoice(search, 'kind', JOB_KINDS),
  }),
  component: lazyRouteComponent(() => import('./JobsPage'), 'JobsPage'),
});

export interface JobSearch {
  cursor?: string | undefined;
  status?: (typeof ITEM_STATUSES)[number] | undefined;
}

export const jobRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/imports/$jobId',
  validateSearch: (search: Record<string, unknown>): JobSearch => ({
    cursor: readText(search, 'cursor'),
    status: readChoice(search, 'status', ITEM_STATUSES),
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
