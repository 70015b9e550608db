/** Reading a draft with all that its screen needs; begun while the screen's code is still loading. */
import { api, $api, fetchBlob, unwrap } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
import type { Schemas } from '@/kit/api/types';
import { readSession } from '@/kit/session/store';
import { imageWidth } from './page/geometry';
import { imagePath, pagesQuery } from './page/pagesQuery';
import { PADDING } from './page/padding';

type TagSet = Schemas['TagSet'];

const AHEAD_MILLISECONDS = 10_000;
const FIELDS_WIDTH = 420;
/** Below this width of the window the fields are below the document. */
const NARROW = 768;

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

/** What is read ahead fails where it is used. */
const ignore = () => undefined;

/** Returns the caller's draft of a document, or null. */
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

interface Ahead {
  readonly artifactId: string;
  readonly at: number;
  readonly draft: Promise<TagSet | null>;
}

let ahead: Ahead | undefined;

/** Returns the draft that is being read ahead, once; otherwise reads it. */
export function readDraft(artifactId: string): Promise<TagSet | null> {
  const begun = ahead;
  ahead = undefined;
  const isFresh =
    begun?.artifactId === artifactId && performance.now() - begun.at < AHEAD_MILLISECONDS;
  return isFresh ? begun.draft : findDraft(artifactId);
}

/** The width at which the first page will be asked for, if nobody has moved the line between. */
function guessImageWidth(): number {
  const isNarrow = window.innerWidth <= NARROW;
  const pane = window.innerWidth - (isNarrow ? 0 : FIELDS_WIDTH);
  return imageWidth((pane - PADDING) * Math.min(window.devicePixelRatio, 2));
}

/** Begins to read the pages of a document, and its first picture. They never change. */
export function readPagesAhead(artifactId: string): void {
  queryClient.infiniteQuery(pagesQuery(artifactId)).catch(ignore);
  const path = imagePath(artifactId, 1, guessImageWidth());
  queryClient
    .query({
      queryKey: ['blob', path],
      queryFn: ({ signal }) => fetchBlob(path, signal),
      staleTime: Infinity,
      retry: false,
    })
    .catch(ignore);
}

/** Begins to read all that the screen of a document needs. */
export function readAhead(artifactId: string): void {
  readPagesAhead(artifactId);
  queryClient.query(artifactQuery(artifactId)).catch(ignore);
  const draft = findDraft(artifactId);
  draft.catch(ignore);
  ahead = { artifactId, at: performance.now(), draft };
}
