import { useMemo } from 'react';
import { $api } from '@/kit/api/client';

/** Returns the schemas of the organization, for names and for choosing. */
export function useSchemaList() {
  const { data, isPending } = $api.useQuery(
    'get',
    '/api/v1/schemas',
    { params: { query: { page_size: 1000, sort: 'name' } } },
    { staleTime: 60_000 },
  );
  return useMemo(() => {
    const schemas = data?.data ?? [];
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
