import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '@/kit/api/types';
import { artifactQuery, schemaQuery, versionQuery } from '../reading';

/** Reads what the screen needs beside the tag set: document, version of the schema, guidelines. */
export function useDocument(tagSet: Schemas['TagSet']) {
  const artifact = useQuery(artifactQuery(tagSet.artifact_id));
  const version = useQuery(versionQuery(tagSet.schema_version_id));
  const schema = useQuery(schemaQuery(tagSet.schema_id));
  return {
    artifact: artifact.data?.data,
    fields: version.data?.data.fields,
    schema: schema.data?.data,
    error: artifact.error ?? version.error ?? schema.error,
  };
}
