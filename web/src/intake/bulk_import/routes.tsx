import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { workRoute } from '@/kit/routing/roots';

export const importRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/imports/new',
  component: lazyRouteComponent(() => import('./ImportPage'), 'ImportPage'),
});

export const routes = [importRoute] as const;
