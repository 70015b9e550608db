import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Settings } from 'lucide-react';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';

export const settingsRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/settings',
  component: lazyRouteComponent(() => import('./SettingsPage'), 'SettingsPage'),
});

export const routes = [settingsRoute] as const;

export const navigation: NavigationItem[] = [
  {
    to: '/settings',
    label: 'settings',
    icon: Settings,
    group: 'settings',
    permission: 'organizations:update',
  },
];
