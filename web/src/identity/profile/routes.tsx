import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { CircleUserRound } from 'lucide-react';
import { workRoute } from '@/kit/routing/roots';

export const profileRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/profile',
  component: lazyRouteComponent(() => import('./ProfilePage'), 'ProfilePage'),
});

export const routes = [profileRoute] as const;

export const account = [{ to: '/profile', label: 'profile', icon: CircleUserRound }] as const;
