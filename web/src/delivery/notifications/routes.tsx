import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Bell as BellIcon } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { readChoice, readDay, readText } from '@/kit/lists/search';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';
import { KINDS, READ } from './kinds';

export interface NotificationSearch {
  read?: (typeof READ)[number] | undefined;
  kind?: (typeof KINDS)[number] | undefined;
  from?: string | undefined;
  to?: string | undefined;
  cursor?: string | undefined;
}

export const notificationsRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/notifications',
  validateSearch: (search: Record<string, unknown>): NotificationSearch => ({
    read: readChoice(search, 'read', READ),
    kind: readChoice(search, 'kind', KINDS),
    from: readDay(search, 'from'),
    to: readDay(search, 'to'),
    cursor: readText(search, 'cursor'),
  }),
  component: lazyRouteComponent(() => import('./NotificationsPage'), 'NotificationsPage'),
});

export const routes = [notificationsRoute] as const;

export const account: Omit<NavigationItem, 'group' | 'permission'>[] = [
  { to: '/notifications', label: 'notifications', icon: BellIcon },
];

const Bell = lazy(() => import('./Bell').then((module) => ({ default: module.Bell })));

/** The bell in the header, which is loaded after the page. */
export function HeaderBell() {
  return (
    <Suspense fallback={null}>
      <Bell />
    </Suspense>
  );
}

export const header = [HeaderBell];
