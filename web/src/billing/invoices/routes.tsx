import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readChoice, readText } from '@/kit/lists/search';
import { workRoute } from '@/kit/routing/roots';
import { KINDS, STATUSES } from './kinds';

export interface InvoicesSearch {
  status?: (typeof STATUSES)[number] | undefined;
  kind?: (typeof KINDS)[number] | undefined;
  cursor?: string | undefined;
}

export const invoicesRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/billing/invoices',
  validateSearch: (search: Record<string, unknown>): InvoicesSearch => ({
    status: readChoice(search, 'status', STATUSES),
    kind: readChoice(search, 'kind', KINDS),
    cursor: readText(search, 'cursor'),
  }),
  component: lazyRouteComponent(() => import('./InvoicesPage'), 'InvoicesPage'),
});

export const invoiceRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/billing/invoices/$invoiceId',
  component: lazyRouteComponent(() => import('./InvoicePage'), 'InvoicePage'),
});

export const profileRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/billing/profile',
  component: lazyRouteComponent(() => import('./ProfilePage'), 'ProfilePage'),
});

export const routes = [invoicesRoute, invoiceRoute, profileRoute] as const;
