/**
 * The routes that features hang their pages on: `publicRoute` for pages without a session, and
 * `workRoute` for pages inside an organization, which have the navigation around them.
 */
import {
  createRootRoute,
  createRoute,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { chooseOrganization } from '@/kit/session/choosing';
import { currentOrganization, setCurrentOrganization } from '@/kit/session/organization';
import { readSession } from '@/kit/session/store';
import { NotFound } from '@/kit/components/NotFound';
import { PageError } from '@/kit/components/PageError';
import { Root } from './Root';

export const rootRoute = createRootRoute({
  component: Root,
  notFoundComponent: NotFound,
  errorComponent: PageError,
});

export const publicRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'public',
  component: Outlet,
});

export const workRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'work',
  beforeLoad({ location }) {
    const session = readSession();
    if (!session) throw redirect({ to: '/sign-in', search: { next: location.publicHref } });
    const slug = chooseOrganization(session, currentOrganization());
    if (slug === undefined) throw redirect({ to: '/organizations' });
    if (slug !== currentOrganization()) {
      setCurrentOrganization(slug);
      throw redirect({ to: '/' });
    }
    return { organization: slug };
  },
  component: lazyRouteComponent(() => import('@/kit/shell/Shell'), 'Shell'),
});

/** Any other address inside an organization. */
export const unknownRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '$',
  component: NotFound,
});
