import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Webhook } from 'lucide-react';
import { readCursor, readOption, readText } from '@/kit/routing/search';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';
import { DELIVERY_EVENTS, DELIVERY_STATUSES, STATES } from './values';

export const webhooksRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/integrations',
  validateSearch: (search: Record<string, unknown>) => ({
    ...readCursor(search),
    ...readOption(search, 'state', STATES),
  }),
  component: lazyRouteComponent(() => import('./WebhooksPage'), 'WebhooksPage'),
});

export const webhookRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/integrations/webhooks/$webhookId',
  validateSearch: (search: Record<string, unknown>) => ({
    ...readCursor(search),
    ...readOption(search, 'status', DELIVERY_STATUSES),
    ...readOption(search, 'event', DELIVERY_EVENTS),
    ...readText(search, 'delivery'),
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
