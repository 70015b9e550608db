import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Download } from 'lucide-react';
import { compact, readChoice, readText } from '@/kit/lists/search';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';
import { type Export, STATUSES } from './values';

export interface ExportsSearch {
  cursor?: string | undefined;
  status?: Export['status'] | undefined;
  format?: string | undefined;
}

export const exportsRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/exports',
  validateSearch: (search: Record<string, unknown>): ExportsSearch => ({
    cursor: readText(search, 'cursor'),
    status: readChoice(search, 'status', STATUSES),
    format: readText(search, 'format'),
  }),
  component: lazyRouteComponent(() => import('./ExportsPage'), 'ExportsPage'),
});

export const newExportRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/exports/new',
  validateSearch: (search: Record<string, unknown>) =>
    compact({
      schema_id: readText(search, 'schema_id'),
      format: readText(search, 'format'),
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
