import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Download } from 'lucide-react';
import { readCursor, readOption, readText } from '@/kit/routing/search';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';
import { STATUSES } from './values';

export const exportsRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/exports',
  validateSearch: (search: Record<string, unknown>) => ({
    ...readCursor(search),
    ...readOption(search, 'status', STATUSES),
    ...readText(search, 'format'),
  }),
  component: lazyRouteComponent(() => import('./ExportsPage'), 'ExportsPage'),
});

export const newExportRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/exports/new',
  validateSearch: (search: Record<string, unknown>) => ({
    ...readText(search, 'schema_id'),
    ...readText(search, 'format'),
  }),
  component: lazyRouteComponent(() => import('./NewExportPage'), 'NewExportPage'),
});

export const exportRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/exports/$jobId',
  component: lazyRouteComponent(() => import('./ExportPage'), 'ExportPage'),
});

export const routes = [exportsRoute, newExportRoute, exportRoute] as const;

export const navigation: NavigationItem[] = [
  { to: '/exports', label: 'exports', icon: Download, group: 'data', permission: 'exports:read' },
];
