import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { TableProperties } from 'lucide-react';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';
import { parseDetailSearch, parseSearch, parseTemplateSearch } from './search';

export const schemasRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/schemas',
  validateSearch: parseSearch,
  component: lazyRouteComponent(() => import('./list/SchemasPage'), 'SchemasPage'),
});

export const templatesRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/schemas/templates',
  validateSearch: parseTemplateSearch,
  component: lazyRouteComponent(() => import('./create/TemplatesPage'), 'TemplatesPage'),
});

export const importRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/schemas/import',
  component: lazyRouteComponent(() => import('./create/ImportPage'), 'ImportPage'),
});

export const schemaRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/schemas/$schemaId',
  validateSearch: parseDetailSearch,
  component: lazyRouteComponent(() => import('./editor/SchemaPage'), 'SchemaPage'),
});

export const routes = [schemasRoute, templatesRoute, importRoute, schemaRoute] as const;

export const navigation: NavigationItem[] = [
  {
    to: '/schemas',
    label: 'schemas',
    icon: TableProperties,
    group: 'content',
    permission: 'schemas:read',
  },
];
