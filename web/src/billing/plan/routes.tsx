import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { CreditCard } from 'lucide-react';
import { readChoice } from '@/kit/lists/search';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';
import { METERS } from './meters';

export const planRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/billing',
  validateSearch: (search: Record<string, unknown>) => ({
    meter: readChoice(search, 'meter', METERS),
  }),
  component: lazyRouteComponent(() => import('./PlanPage'), 'PlanPage'),
});

export const routes = [planRoute] as const;

export const navigation: NavigationItem[] = [
  {
    to: '/billing',
    label: 'billing',
    icon: CreditCard,
    group: 'settings',
    permission: 'billing:read',
  },
];
