/** Reading a draft with all that its screen needs, without waiting for the screen in between. */
import i18next from 'i18next';
import { api, $api, unwrap } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
import type { Schemas } from '@/kit/api/types';
import { readSession } from '@/kit/session/store';
import { pagesQuery } from './page/pagesQuery';

type TagSet = Schemas['TagSet'];

export const artifactQuery = (artifactId: string) =>
  $api.queryOptions('get', '/api/v1/artifacts/{artifact_id}', {
    params: { path: { artifact_id: artifactId } },
  });

/** A version never changes. */
export const versionQuery = (versionId: string) =>
  $api.queryOptions(
    'get',
    '/api/v1/schema-versions/{version_id}',
    { params: { path: { version_id: versionId } } },
    { staleTime: Infinity },
  );

export const schemaQuery = (schemaId: string) =>
  $api.queryOptions(
    'get',
    '/api/v1/schemas/{schema_id}',
    { params: { path: { schema_id: schemaId } } },
    { staleTime: 60_000 },
  );

/** What is read here before it is needed fails where it is used. */
const ignore = () => undefined;

export const draftKey = (artifactId: string) => ['draft', artifactId] as const;

/** Drafts that are being read while the code of the screen is loading, by document. */
const early = new Map<string, Promise<TagSet | null>>();

/** Begins to read what the screen of a document needs first. */
export function readAhead(artifactId: string): void {
  // The screen is there, and has its draft: nobody would take this one before it is old.
  if (queryClient.getQueryState(draftKey(artifactId))) return;
  const draft = findDraft(artifactId);
  draft.catch(ignore);
  early.set(artifactId, draft);
  queryClient.query(artifactQuery(artifactId)).catch(ignore);
  queryClient.infiniteQuery(pagesQuery(artifactId)).catch(ignore);
  i18next.loadNamespaces('workflow/labeling').catch(ignore);
}

/** Returns the caller's draft of a document, or null. */
export function readDraft(artifactId: string): Promise<TagSet | null> {
  const draft = early.get(artifactId);
  early.delete(artifactId);
  return draft ?? findDraft(artifactId);
}

async function findDraft(artifactId: string): Promise<TagSet | null> {
  const labelerId = readSession()?.user.id ?? '';
  const query = {
    artifact_id: artifactId,
    labeler_id: labelerId,
    status: ['draft' as const],
    page_size: 1,
  };
  const { data } = await unwrap(api.GET('/api/v1/tag-sets', { params: { query } }));
  const [found] = data;
  if (!found) return null;
  queryClient.query(versionQuery(found.schema_version_id)).catch(ignore);
  queryClient.query(schemaQuery(found.schema_id)).catch(ignore);
  const params = { path: { tag_set_id: found.id } };
  return (await unwrap(api.GET('/api/v1/tag-sets/{tag_set_id}', { params }))).data;
}
