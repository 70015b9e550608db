/** Reading the pages of a document: their words, and their pictures. */
import { api, unwrap } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';

/** Few pages at a time: an answer has at most 8 MiB of words, and the first pages are shown first. */
const PAGE_SIZE = 5;

interface Batch {
  readonly data: Schemas['DocumentPage'][];
  readonly meta: { readonly next_cursor: string | null };
}

async function readBatch(
  artifactId: string,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<Batch> {
  const query = { page_size: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) };
  const call = api.GET('/api/v1/artifacts/{artifact_id}/pages', {
    params: { path: { artifact_id: artifactId }, query },
    signal,
  });
  return unwrap(call);
}

interface Reading {
  pageParam: string | undefined;
  signal: AbortSignal;
}

export function pagesQuery(artifactId: string) {
  return {
    queryKey: ['pages', artifactId],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }: Reading) => readBatch(artifactId, pageParam, signal),
    getNextPageParam: (last: Batch): string | undefined => last.meta.next_cursor ?? undefined,
    // The text of a document changes only when it is read again, which needs no labels.
    staleTime: Infinity,
  };
}

export function imagePath(artifactId: string, page: number, width: number): string {
  return `/api/v1/artifacts/${artifactId}/pages/${page}/image?width=${width}&format=webp`;
}
