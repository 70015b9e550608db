import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Cable } from 'lucide-react';
import { compact, readChoice, readText } from '@/kit/lists/search';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';
import { TYPES } from './values';

export const connectorsRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/connectors',
  validateSearch: (search: Record<string, unknown>) =>
    compact({
      cursor: readText(search, 'cursor'),
      type: readChoice(search, 'type', TYPES),
    }),
  component: lazyRouteComponent(() => import('./ConnectorsPage'), 'ConnectorsPage'),
});

export const newConnectorRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/connectors/new',
  validateSearch: (search: Record<string, unknown>) =>
    compact({ type: readChoice(search, 'type', TYPES) }),
  component: lazyRouteComponent(() => import('./EditPages'), 'NewConnectorPage'),
});

export const connectorRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/connectors/$connectorId',
  validateSearch: (search: Record<string, unknown>) =>
    compact({ folder: readText(search, 'folder') }),
  component: lazyRouteComponent(() => import('./ConnectorPage'), 'ConnectorPage'),
});

export const editConnectorRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/connectors/$connectorId/edit',
  component: lazyRouteComponent(() => import('./EditPages'), 'EditConnectorPage'),
});

export const routes = [
  connectorsRoute,
  newConnectorRoute,
  connectorRoute,
  editConnectorRoute,
] as const;

export const navigation: NavigationItem[] = [
  {
    to: '/connectors',
    label: 'connectors',
    icon: Cable,
    group: 'data',
    permission: 'connectors:read',
  },
];
