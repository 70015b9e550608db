import { $api } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
import type { Schemas } from '@/kit/api/types';

export type Rule = Schemas['RoutingRule'];
export type Action = Schemas['RoutingActionBody'];

/** An organization has at most 200 rules, so that all are read at once. */
export function useRules() {
  return $api.useQuery('get', '/api/v1/routing-rules', {
    params: { query: { page_size: 200, sort: 'position' } },
  });
}

export async function refreshRules(): Promise<void> {
  const paths = ['/api/v1/routing-rules', '/api/v1/routing-rules/{rule_id}'];
  await Promise.all(
    paths.map((path) => queryClient.invalidateQueries({ queryKey: ['get', path] })),
  );
}
