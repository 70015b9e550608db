import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import type { Schemas } from '@/kit/api/types';
import { pagesQuery } from './pagesQuery';
import { buildIndex, type WordIndex } from './words';

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
  const query = useInfiniteQuery(pagesQuery(artifactId));
  const { hasNextPage, isFetchingNextPage, fetchNextPage, error } = query;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && !error) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, error]);
  const batches = query.data?.pages;
  const pages = useMemo(() => batches?.flatMap((batch) => batch.data.map(toPage)) ?? [], [batches]);
  return { pages, error, isPending: query.isPending, refetch: query.refetch };
}
