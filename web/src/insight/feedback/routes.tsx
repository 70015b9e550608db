import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { BrainCircuit } from 'lucide-react';
import { readDay, readId, readText } from '@/kit/lists/search';
import { workRoute } from '@/kit/routing/roots';
import type { NavigationItem } from '@/kit/shell/navigation';

export interface ModelsSearch {
  schema_id?: string | undefined;
  model?: string | undefined;
  field?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  cursor?: string | undefined;
}

export const modelsRoute = createRoute({
  getParentRoute: () => workRoute,
  path: '/models',
  validateSearch: (search: Record<string, unknown>): ModelsSearch => ({
    schema_id: readId(search, 'schema_id'),
    model: readText(search, 'model'),
    field: readText(search, 'field'),
    from: readDay(search, 'from'),
    to: readDay(search, 'to'),
    cursor: readText(search, 'cursor'),
  }),
  component: lazyRouteComponent(() => import('./ModelsPage'), 'ModelsPage'),
});

export const routes = [modelsRoute] as const;

export const navigation: NavigationItem[] = [
  {
    to: '/models',
    label: 'models',
    icon: BrainCircuit,
    group: 'insight',
    permission: 'feedback:read',
  },
];
