import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Network } from 'lucide-react';
import { readDay, readText } from '@/kit/lists/search';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';

export interface TeamsSearch {
  q?: string | undefined;
}

export interface TeamSearch {
  from?: string | undefined;
  to?: string | undefined;
}

export const teamsRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/teams',
  validateSearch: (search: Record<string, unknown>): TeamsSearch => ({
    q: readText(search, 'q'),
  }),
  component: lazyRouteComponent(() => import('./TeamsPage'), 'TeamsPage'),
});

export const teamRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/teams/$teamId',
  validateSearch: (search: Record<string, unknown>): TeamSearch => ({
    from: readDay(search, 'from'),
    to: readDay(search, 'to'),
  }),
  component: lazyRouteComponent(() => import('./TeamPage'), 'TeamPage'),
});

export const routes = [teamsRoute, teamRoute] as const;

export const navigation: NavigationItem[] = [
  { to: '/teams', label: 'teams', icon: Network, group: 'settings', permission: 'teams:read' },
];
