import { api, unwrap } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { queryClient } from '@/kit/api/queryClient';
import { useCursorList } from '@/kit/lists/useCursorList';
import { DEFAULT_SORT, type DocumentSearch, toFilters } from './search';

const PAGE = 100;
const PROCESSING_MILLISECONDS = 3_000;

export type Artifact = Schemas['Artifact'];

/** A document in a list. */
export type ArtifactSummary = Schemas['ArtifactSummary'];

/** Reads everything about documents again. */
export async function refreshDocuments(): Promise<void> {
  const paths = [
    '/api/v1/artifacts',
    '/api/v1/artifacts/{artifact_id}',
    '/api/v1/artifacts/{artifact_id}/history',
  ];
  await Promise.all(
    paths.map((path) => queryClient.invalidateQueries({ queryKey: ['get', path] })),
  );
}

/** Returns the documents that the filters match, read page by page as the list is scrolled. */
export function useDocuments(search: DocumentSearch) {
  const query = { ...toFilters(search), sort: search.sort ?? DEFAULT_SORT, page_size: PAGE };
  return useCursorList<ArtifactSummary>({
    path: '/api/v1/artifacts',
    params: query,
    fetch: (cursor, signal) => {
      const params = { query: { ...query, ...(cursor !== undefined && { cursor }) } };
      return unwrap(api.GET('/api/v1/artifacts', { params, signal }));
    },
    refetchInterval: (rows) =>
      rows.some(({ status }) => status === 'processing') && PROCESSING_MILLISECONDS,
  });
}
