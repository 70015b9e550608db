import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { publicRoute } from '@/kit/routing/roots';

type Search = Record<string, unknown>;

const text = (search: Search, name: string): string | undefined =>
  typeof search[name] === 'string' ? search[name] : undefined;

interface SignInSearch {
  /** The address to go on with. */
  next?: string;
}

export const signInRoute = createRoute({
  getParentRoute: () => publicRoute,
  path: '/sign-in',
  validateSearch: (search: Search): SignInSearch => ({ next: text(search, 'next') }),
  component: lazyRouteComponent(() => import('./SignInPage'), 'SignInPage'),
});

interface SignOnSearch {
  code?: string;
  next?: string;
  error?: string;
  error_description?: string;
}

/** Where the identity provider sends the browser back to. */
export const signOnRoute = createRoute({
  getParentRoute: () => publicRoute,
  path: '/sign-on',
  validateSearch: (search: Search): SignOnSearch => ({
    code: text(search, 'code'),
    next: text(search, 'next'),
    error: text(search, 'error'),
    error_description: text(search, 'error_description'),
  }),
  component: lazyRouteComponent(() => import('./SignOnPage'), 'SignOnPage'),
});

/** A sign-on that the user confirms with the link of an email. */
export const confirmSignOnRoute = createRoute({
  getParentRoute: () => publicRoute,
  path: '/confirm-sign-on',
  validateSearch: (search: Search): SignOnSearch => ({ code: text(search, 'token') }),
  component: lazyRouteComponent(() => import('./SignOnPage'), 'ConfirmSignOnPage'),
});

export const organizationsRoute = createRoute({
  getParentRoute: () => publicRoute,
  path: '/organizations',
  component: lazyRouteComponent(() => import('./OrganizationsPage'), 'OrganizationsPage'),
});

export const publicRoutes = [
  signInRoute,
  signOnRoute,
  confirmSignOnRoute,
  organizationsRoute,
] as const;
