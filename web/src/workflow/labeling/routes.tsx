import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { workRoute } from '@/kit/routing/roots';
import { WIDE } from '@/kit/shell/room';
import { readAhead } from './reading';

/** Claims the next document and opens it. */
const nextRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/label',
  component: lazyRouteComponent(() => import('./NextPage'), 'NextPage'),
});

const labelRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/label/$artifactId',
  staticData: WIDE,
  // What it shows is read while its code is loading.
  loader({ params, cause }) {
    // A draft that was read because the pointer was near a link may be old at the click.
    if (cause !== 'preload') readAhead(params.artifactId);
  },
  component: lazyRouteComponent(() => import('./LabelPage'), 'LabelPage'),
});

/** Any tag set, as far as the caller may see it. */
const tagSetRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/tag-sets/$tagSetId',
  staticData: WIDE,
  component: lazyRouteComponent(() => import('./TagSetPage'), 'TagSetPage'),
});

export const routes = [nextRoute, labelRoute, tagSetRoute] as const;
