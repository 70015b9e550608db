import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Webhook } from 'lucide-react';
import { compact, readChoice, readText } from '@/kit/lists/search';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';
import { DELIVERY_EVENTS, DELIVERY_STATUSES, STATES } from './values';

export const webhooksRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/integrations',
  validateSearch: (search: Record<string, unknown>) =>
    compact({
      cursor: readText(search, 'cursor'),
      state: readChoice(search, 'state', STATES),
    }),
  component: lazyRouteComponent(() => import('./WebhooksPage'), 'WebhooksPage'),
});

export interface WebhookSearch {
  cursor?: string | undefined;
  status?: (typeof DELIVERY_STATUSES)[number] | undefined;
  event?: (typeof DELIVERY_EVENTS)[number] | undefined;
  delivery?: string | undefined;
}

export const webhookRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/integrations/webhooks/$webhookId',
  validateSearch: (search: Record<string, unknown>): WebhookSearch => ({
    cursor: readText(search, 'cursor'),
    status: readChoice(search, 'status', DELIVERY_STATUSES),
    event: readChoice(search, 'event', DELIVERY_EVENTS),
    delivery: readText(search, 'delivery'),
  }),
  component: lazyRouteComponent(() => import('./WebhookPage'), 'WebhookPage'),
});

export const routes = [webhooksRoute, webhookRoute] as const;

export const navigation: NavigationItem[] = [
  {
    to: '/integrations',
    label: 'integrations',
    icon: Webhook,
    group: 'settings',
    permission: 'webhooks:manage',
  },
];
