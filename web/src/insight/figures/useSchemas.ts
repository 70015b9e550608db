import { useMemo } from 'react';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';

const MOST = 1000;

/** Returns the published schemas of the organization by name. */
export function useSchemas(): Schemas['SchemaSummary'][] {
  const { data } = $api.useQuery(
    'get',
    '/api/v1/schemas',
    { params: { query: { sort: 'name', page_size: MOST } } },
    { staleTime: 60_000 },
  );
  return useMemo(
    () => (data?.data ?? []).filter((schema) => schema.current_version !== null),
    [data],
  );
}

/** Returns how to name a schema by its id. */
export function useSchemaName(): (schemaId: string) => string {
  const schemas = useSchemas();
  return useMemo(() => {
    const names = new Map(schemas.map(({ id, name }) => [id, name]));
    return (schemaId: string) => names.get(schemaId) ?? schemaId;
  }, [schemas]);
}
