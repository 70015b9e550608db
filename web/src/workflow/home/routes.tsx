import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { House } from 'lucide-react';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';

const KINDS = ['label', 'review'] as const;

export interface HomeSearch {
  /** Only work of this kind. */
  kind?: (typeof KINDS)[number];
  cursor?: string;
}

export const homeRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/',
  validateSearch: (search: Record<string, unknown>): HomeSearch => ({
    kind: KINDS.find((kind) => kind === search['kind']),
    cursor: typeof search['cursor'] === 'string' ? search['cursor'] : undefined,
  }),
  component: lazyRouteComponent(() => import('./HomePage'), 'HomePage'),
});

export const routes = [homeRoute] as const;

export const navigation: NavigationItem[] = [
  { to: '/', label: 'home', icon: House, group: 'work' },
];
