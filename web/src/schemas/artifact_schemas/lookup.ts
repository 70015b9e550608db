import { useMemo } from 'react';
import { api, unwrap } from '@/kit/api/client';
import { useWholeList } from '@/kit/lists/useWholeList';

const QUERY = { page_size: 1000, sort: 'name' } as const;

/** Returns the schemas of the organization, for names and for choosing. */
export function useSchemaList() {
  const { data, isPending } = useWholeList({
    path: '/api/v1/schemas',
    params: QUERY,
    fetch: (cursor, signal) => {
      const params = { query: { ...QUERY, ...(cursor !== undefined && { cursor }) } };
      return unwrap(api.GET('/api/v1/schemas', { params, signal }));
    },
  });
  return useMemo(() => {
    const schemas = data ?? [];
    const names = new Map(schemas.map((schema) => [schema.id, schema.name]));
    return {
      schemas,
      isPending,
      name: (id: string | null | undefined) => (id ? names.get(id) : undefined),
    };
  }, [data, isPending]);
}

/** Returns how to name a schema: one that is gone by its id. */
export function useSchemaName(): (id: string) => string {
  const { name } = useSchemaList();
  return (id) => name(id) ?? id;
}
