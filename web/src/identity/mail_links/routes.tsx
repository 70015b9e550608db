import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { publicRoute } from '@/kit/routing/roots';

interface TokenSearch {
  token?: string;
}

/** The token of an email. `lang` of the link is read when the application starts. */
const validateSearch = (search: Record<string, unknown>): TokenSearch => ({
  token: typeof search['token'] === 'string' ? search['token'] : undefined,
});

const forgotPasswordRoute = createRoute({
  getParentRoute: () => publicRoute,
  path: '/forgot-password',
  component: lazyRouteComponent(() => import('./ForgotPasswordPage'), 'ForgotPasswordPage'),
});

const resetPasswordRoute = createRoute({
  getParentRoute: () => publicRoute,
  path: '/reset-password',
  validateSearch,
  component: lazyRouteComponent(() => import('./ResetPasswordPage'), 'ResetPasswordPage'),
});

const acceptInvitationRoute = createRoute({
  getParentRoute: () => publicRoute,
  path: '/accept-invitation',
  validateSearch,
  component: lazyRouteComponent(() => import('./AcceptInvitationPage'), 'AcceptInvitationPage'),
});

const confirmEmailRoute = createRoute({
  getParentRoute: () => publicRoute,
  path: '/confirm-email',
  validateSearch,
  component: lazyRouteComponent(() => import('./ConfirmEmailPage'), 'ConfirmEmailPage'),
});

const openRoute = createRoute({
  getParentRoute: () => publicRoute,
  path: '/open/$slug/$',
  component: lazyRouteComponent(() => import('./OpenPage'), 'OpenPage'),
});

export const publicRoutes = [
  forgotPasswordRoute,
  resetPasswordRoute,
  acceptInvitationRoute,
  confirmEmailRoute,
  openRoute,
] as const;
