import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readCursor, type CursorSearch } from '@/kit/routing/search';
import { workRoute } from '@/kit/routing/roots';

export const apiKeysRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/integrations/api-keys',
  validateSearch: (search: Record<string, unknown>): CursorSearch => readCursor(search),
  component: lazyRouteComponent(() => import('./ApiKeysPage'), 'ApiKeysPage'),
});

export const routes = [apiKeysRoute] as const;
