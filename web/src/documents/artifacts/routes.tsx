import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Files } from 'lucide-react';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';
import { parseSearch } from './search';

const TABS = ['document', 'text', 'labels', 'history'] as const;
export type DetailTab = (typeof TABS)[number];

interface DetailSearch {
  tab?: DetailTab;
  /** Words to highlight. */
  q?: string;
}

export const documentsRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/documents',
  validateSearch: parseSearch,
  component: lazyRouteComponent(() => import('./list/DocumentsPage'), 'DocumentsPage'),
});

export const documentRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/documents/$artifactId',
  validateSearch: (search: Record<string, unknown>): DetailSearch => {
    const tab = TABS.find((known) => known === search['tab']);
    const q = search['q'];
    return {
      ...(tab && { tab }),
      ...((typeof q === 'string' || typeof q === 'number') && { q: String(q) }),
    };
  },
  component: lazyRouteComponent(() => import('./detail/DocumentPage'), 'DocumentPage'),
});

export const routes = [documentsRoute, documentRoute] as const;

export const navigation: NavigationItem[] = [
  {
    to: '/documents',
    label: 'documents',
    icon: Files,
    group: 'work',
    permission: 'artifacts:read',
  },
];
