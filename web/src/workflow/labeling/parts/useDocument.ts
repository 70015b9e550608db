import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';

/** Reads what the screen needs beside the tag set: document, version of the schema, guidelines. */
export function useDocument(tagSet: Schemas['TagSet']) {
  const artifact = $api.useQuery('get', '/api/v1/artifacts/{artifact_id}', {
    params: { path: { artifact_id: tagSet.artifact_id } },
  });
  const version = $api.useQuery(
    'get',
    '/api/v1/schema-versions/{version_id}',
    { params: { path: { version_id: tagSet.schema_version_id } } },
    // A version never changes.
    { staleTime: Infinity },
  );
  const schema = $api.useQuery(
    'get',
    '/api/v1/schemas/{schema_id}',
    { params: { path: { schema_id: tagSet.schema_id } } },
    { staleTime: 60_000 },
  );
  return {
    artifact: artifact.data?.data,
    fields: version.data?.data.fields,
    schema: schema.data?.data,
    error: artifact.error ?? version.error ?? schema.error,
  };
}
