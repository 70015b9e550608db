import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { publicRoute } from '@/kit/routing/roots';

interface SignInSearch {
    /** The address to go on with. */
    next?: string;
}

export const signInRoute = createRoute({
    getParentRoute: () => publicRoute,
    path: '/sign-in',
    validateSearch: (search: Record<string, unknown>): SignInSearch =>
        typeof search['next'] === 'string' ? { next: search['next'] } : {},
    component: lazyRouteComponent(() => import('./SignInPage'), 'SignInPage'),
});

export const organizationsRoute = createRoute({
    getParentRoute: () => publicRoute,
    path: '/organizations',
    component: lazyRouteComponent(() => import('./OrganizationsPage'), 'OrganizationsPage'),
});

export const publicRoutes = [signInRoute, organizationsRoute] as const;
