import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { pollEvery } from '@/kit/api/polling';
import type { Schemas } from '@/kit/api/types';

interface CursorPage<Row> {
  data: Row[];
  meta: Schemas['PageMeta'];
}

interface Options<Row> {
  /** The path of the operation: what invalidates it invalidates this list, too. */
  path: string;
  /** All that decides what is listed. */
  params: unknown;
  fetch: (cursor: string | undefined, signal: AbortSignal) => Promise<CursorPage<Row>>;
  enabled?: boolean;
  staleTime?: number;
  /** Milliseconds until the list is read again, or false. */
  refetchInterval?: (rows: readonly Row[]) => number | false;
}

/** A list that is read page by page by its cursors, as it is scrolled. */
export function useCursorList<Row>(options: Options<Row>) {
  const { path, params, fetch, refetchInterval } = options;
  const {
    data,
    error,
    isFetching,
    isPending,
    hasNextPage,
    fetchNextPage,
    refetch,
    isFetchNextPageError,
  } = useInfiniteQuery({
    queryKey: ['get', path, params, 'pages'],
    queryFn: ({ pageParam, signal }) => fetch(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.meta.next_cursor ?? undefined,
    // Thousands of rows are not read again because the window got the focus.
    refetchOnWindowFocus: false,
    refetchInterval: (query) => {
      const pages = query.state.data?.pages ?? [];
      if (!refetchInterval || pages.length > 2) return false;
      const interval = refetchInterval(pages.flatMap((page) => page.data));
      return interval && pollEvery(query, interval);
    },
    ...(options.enabled !== undefined && { enabled: options.enabled }),
    ...(options.staleTime !== undefined && { staleTime: options.staleTime }),
  });
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data) ?? [], [data]);
  const loadMore = useCallback(() => void fetchNextPage(), [fetchNextPage]);
  // Rows that are shown already stay while the next ones cannot be read.
  const again = isFetchNextPageError ? fetchNextPage : refetch;
  const retry = useCallback(() => void again(), [again]);
  const total = data?.pages.at(-1)?.meta.total ?? 0;
  const hasMore = hasNextPage && error === null;
  return { rows, total, error, isFetching, isPending, hasMore, loadMore, retry };
}
