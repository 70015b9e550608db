import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { BellRing } from 'lucide-react';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';

export const preferencesRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/notification-preferences',
  component: lazyRouteComponent(() => import('./PreferencesPage'), 'PreferencesPage'),
});

export const routes = [preferencesRoute] as const;

export const account: Omit<NavigationItem, 'group' | 'permission'>[] = [
  { to: '/notification-preferences', label: 'notification_preferences', icon: BellRing },
];
