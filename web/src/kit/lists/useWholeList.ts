import { useQuery } from '@tanstack/react-query';
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
}

const STALE_MILLISECONDS = 60_000;

/** Returns all entries of a list, read page by page. */
export async function readWhole<Row>(
  fetch: (cursor: string | undefined) => Promise<CursorPage<Row>>,
): Promise<Row[]> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  do {
    const page = await fetch(cursor);
    rows.push(...page.data);
    cursor = page.meta.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return rows;
}

/** A list that is needed whole, for names and for choosing, where the API has no search. */
export function useWholeList<Row>({ path, params, fetch, enabled = true }: Options<Row>) {
  return useQuery({
    queryKey: ['get', path, params, 'whole'],
    queryFn: ({ signal }) => readWhole((cursor) => fetch(cursor, signal)),
    staleTime: STALE_MILLISECONDS,
    enabled,
  });
}
