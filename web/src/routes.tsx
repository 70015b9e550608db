/** The registry: each feature exports its routes, and what it puts into the shell. */
import { createRouter } from '@tanstack/react-router';
import { queryClient } from './kit/api/queryClient';
import { PageError } from './kit/components/PageError';
import { toAddress, toRoute } from './kit/routing/addresses';
import { publicRoute, rootRoute, unknownRoute, workRoute } from './kit/routing/roots';
import { currentOrganization, setCurrentOrganization, splitPath } from './kit/session/organization';
import { setShellParts } from './kit/shell/navigation';
import * as mailLinks from './identity/mail_links/routes';
import * as profile from './identity/profile/routes';
import * as signIn from './identity/sign_in/routes';
import * as apiKeys from './identity/api_keys/routes';
import * as audit from './identity/audit/routes';
import * as invitations from './identity/invitations/routes';
import * as members from './identity/members/routes';
import * as organizations from './identity/organizations/routes';
import * as sso from './identity/sso/routes';
import * as teams from './identity/teams/routes';
import * as schemas from './schemas/artifact_schemas/routes';
import * as documents from './documents/artifacts/routes';
import * as home from './workflow/home/routes';
import * as labeling from './workflow/labeling/routes';
import * as review from './workflow/review/routes';
import * as routing from './workflow/routing_rules/routes';
import * as bulkImport from './intake/bulk_import/routes';
import * as connectors from './intake/connectors/routes';
import * as ingestionJobs from './intake/ingestion_jobs/routes';
import * as drift from './insight/drift/routes';
import * as feedback from './insight/feedback/routes';
import * as quality from './insight/quality/routes';
import * as exports from './delivery/exports/routes';
import * as notificationPreferences from './delivery/notification_preferences/routes';
import * as notifications from './delivery/notifications/routes';
import * as scheduledExports from './delivery/scheduled_exports/routes';
import * as webhooks from './delivery/webhooks/routes';
import * as invoices from './billing/invoices/routes';
import * as plan from './billing/plan/routes';
import { basePath } from './kit/environment';

const routeTree = rootRoute.addChildren([
  publicRoute.addChildren([...signIn.publicRoutes, ...mailLinks.publicRoutes]),
  workRoute.addChildren([
    ...profile.routes,
    ...apiKeys.routes,
    ...audit.routes,
    ...invitations.routes,
    ...members.routes,
    ...organizations.routes,
    ...sso.routes,
    ...teams.routes,
    ...schemas.routes,
    ...documents.routes,
    ...home.routes,
    ...labeling.routes,
    ...review.routes,
    ...routing.routes,
    ...bulkImport.routes,
    ...connectors.routes,
    ...ingestionJobs.routes,
    ...quality.routes,
    ...drift.routes,
    ...feedback.routes,
    ...exports.routes,
    ...notificationPreferences.routes,
    ...notifications.routes,
    ...scheduledExports.routes,
    ...webhooks.routes,
    ...invoices.routes,
    ...plan.routes,
    unknownRoute,
  ]),
]);

setShellParts({
  navigation: [
    ...home.navigation,
    ...documents.navigation,
    ...review.navigation,
    ...schemas.navigation,
    ...routing.navigation,
    ...connectors.navigation,
    ...ingestionJobs.navigation,
    ...exports.navigation,
    ...webhooks.navigation,
    ...quality.navigation,
    ...drift.navigation,
    ...feedback.navigation,
    ...members.navigation,
    ...teams.navigation,
    ...organizations.navigation,
    ...audit.navigation,
    ...plan.navigation,
  ],
  header: [...notifications.header],
  account: [...profile.account, ...notifications.account, ...notificationPreferences.account],
});

/** Takes the organization from the address; what was read for another one is dropped. */
function followAddress(pathname: string): void {
  const { slug } = splitPath(pathname.slice(basePath.length));
  if (slug === undefined || slug === currentOrganization()) return;
  queryClient.clear();
  setCurrentOrganization(slug);
}

/** Changes the path below the prefix of a proxy, which the router takes off and adds. */
function rewrite(url: URL, change: (path: string) => string): URL {
  url.pathname = change(url.pathname);
  return url;
}

export function createAppRouter() {
  followAddress(window.location.pathname);
  const router = createRouter({
    routeTree,
    basepath: basePath || '/',
    defaultPreload: 'intent',
    // Around each page, so that the navigation stays beside what failed.
    defaultErrorComponent: PageError,
    scrollRestoration: true,
    rewrite: {
      input: ({ url }) => rewrite(url, toRoute),
      output: ({ url }) => rewrite(url, toAddress),
    },
  });
  router.history.subscribe(({ location }) => followAddress(location.pathname));
  return router;
}

export type AppRouter = ReturnType<typeof createAppRouter>;

declare module '@tanstack/react-router' {
  interface Register {
    router: AppRouter;
  }
}
