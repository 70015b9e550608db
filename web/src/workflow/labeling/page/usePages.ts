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

const known = new WeakMap<Schemas['DocumentPage'], DocumentPage>();

/** Returns the same page each time, so that reading more pages changes nothing on this one. */
export function toPage(page: Schemas['DocumentPage']): DocumentPage {
  const { number, width, height, words } = page;
  const built = known.get(page) ?? {
    number,
    width,
    height,
    index: buildIndex(number, words ?? []),
  };
  known.set(page, built);
  return built;
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
