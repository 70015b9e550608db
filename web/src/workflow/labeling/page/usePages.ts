import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { api, unwrap } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { buildIndex, type WordIndex } from './words';

/** Few pages at a time: an answer has at most 8 MiB of words, and the first pages are shown first. */
const PAGE_SIZE = 5;

export interface DocumentPage {
  readonly number: number;
  readonly width: number;
  readonly height: number;
  readonly index: WordIndex;
}

function toPage(page: Schemas['DocumentPage']): DocumentPage {
  const { number, width, height, words } = page;
  return { number, width, height, index: buildIndex(number, words ?? []) };
}

/** Returns the pages that were read so far; the rest follow by themselves. */
export function usePages(artifactId: string) {
  const query = useInfiniteQuery({
    queryKey: ['pages', artifactId],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET('/api/v1/artifacts/{artifact_id}/pages', {
          params: {
            path: { artifact_id: artifactId },
            query: {
              page_size: PAGE_SIZE,
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
          signal,
        }),
      ),
    getNextPageParam: (last) => last.meta.next_cursor ?? undefined,
    // The text of a document changes only when it is read again, which needs no labels.
    staleTime: Infinity,
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage, error } = query;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && !error) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, error]);
  const batches = query.data?.pages;
  const pages = useMemo(() => batches?.flatMap((batch) => batch.data.map(toPage)) ?? [], [batches]);
  return { pages, error, isPending: query.isPending, refetch: query.refetch };
}
