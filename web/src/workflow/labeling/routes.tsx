import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { workRoute } from '@/kit/routing/roots';

/** Claims the next document and opens it. */
const nextRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/label',
  component: lazyRouteComponent(() => import('./NextPage'), 'NextPage'),
});

const labelRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/label/$artifactId',
  component: lazyRouteComponent(() => import('./LabelPage'), 'LabelPage'),
});

/** Any tag set, as far as the caller may see it. */
const tagSetRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/tag-sets/$tagSetId',
  component: lazyRouteComponent(() => import('./TagSetPage'), 'TagSetPage'),
});

export const routes = [nextRoute, labelRoute, tagSetRoute] as const;
