import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { compact, readText } from '@/kit/lists/search';
import { workRoute } from '@/kit/routing/roots';

export const apiKeysRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/integrations/api-keys',
  validateSearch: (search: Record<string, unknown>) =>
    compact({ cursor: readText(search, 'cursor') }),
  component: lazyRouteComponent(() => import('./ApiKeysPage'), 'ApiKeysPage'),
});

export const routes = [apiKeysRoute] as const;
