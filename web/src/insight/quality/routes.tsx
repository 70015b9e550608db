import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { ChartLine } from 'lucide-react';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';
import { readQuality, readTrend } from './search';

export const overviewRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/quality',
  validateSearch: readTrend,
  component: lazyRouteComponent(() => import('./OverviewPage'), 'OverviewPage'),
});

export const fieldsRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/quality/fields',
  validateSearch: readQuality,
  component: lazyRouteComponent(() => import('./FieldsPage'), 'FieldsPage'),
});

export const agreementRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/quality/agreement',
  validateSearch: readQuality,
  component: lazyRouteComponent(() => import('./AgreementPage'), 'AgreementPage'),
});

export const disagreementsRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/quality/disagreements',
  validateSearch: (search: Record<string, unknown>) => ({
    ...readQuality(search),
    against: search['against'] === 'accepted' ? ('accepted' as const) : undefined,
  }),
  component: lazyRouteComponent(() => import('./DisagreementsPage'), 'DisagreementsPage'),
});

export const peopleRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/quality/people',
  validateSearch: (search: Record<string, unknown>) => ({
    ...readQuality(search),
    team_id: readTrend(search).team_id,
  }),
  component: lazyRouteComponent(() => import('./PeoplePage'), 'PeoplePage'),
});

export const routes = [
  overviewRoute,
  fieldsRoute,
  agreementRoute,
  disagreementsRoute,
  peopleRoute,
] as const;

export const navigation: NavigationItem[] = [
  {
    to: '/quality',
    label: 'quality',
    icon: ChartLine,
    group: 'insight',
    permission: 'quality:read',
  },
];
