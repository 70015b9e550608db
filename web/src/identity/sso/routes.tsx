import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { workRoute } from '@/kit/routing/roots';

export const signOnRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/settings/sign-on',
  component: lazyRouteComponent(() => import('./SignOnPage'), 'SignOnPage'),
});

export const routes = [signOnRoute] as const;
