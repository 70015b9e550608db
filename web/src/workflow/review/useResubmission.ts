import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { $api, api, unwrap } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { fromServer, type LocalTag, readOtherSide } from '@/workflow/labeling';

type Revision = Schemas['Revision'];

const PAGE = 100;

/** Returns the latest revision with which a decision sent the tag set back, or null. */
async function findSentBack(tagSetId: string): Promise<Revision | null> {
  let cursor: string | undefined;
  do {
    const query = { page_size: PAGE, ...(cursor === undefined ? {} : { cursor }) };
    const call = api.GET('/api/v1/tag-sets/{tag_set_id}/revisions', {
      params: { path: { tag_set_id: tagSetId }, query },
    });
    const { data, meta } = await unwrap(call);
    const found = data.find(({ kind }) => kind === 'reject' || kind === 'reopen');
    if (found) return found;
    cursor = meta.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return null;
}

export interface Resubmission {
  /** The decision that sent the tag set back, with who made it and why. */
  readonly revision: Revision;
  /** The tags as they were then, at the rows of the tags now. */
  readonly before: readonly LocalTag[];
}

/** What a tag set was like when it was sent back; nothing if it was submitted for the first time. */
export function useResubmission(item: Schemas['ReviewItemDetail']): Resubmission | undefined {
  const tagSetId = item.id;
  const found = useQuery({
    queryKey: ['sent back', tagSetId, item.tag_set.revision],
    queryFn: () => findSentBack(tagSetId),
    enabled: item.flags.includes('resubmitted'),
    staleTime: Infinity,
  });
  const revision = found.data ?? undefined;
  const diff = $api.useQuery(
    'get',
    '/api/v1/tag-sets/{tag_set_id}/diff',
    { params: { path: { tag_set_id: tagSetId }, query: { revision: revision?.number ?? 1 } } },
    { enabled: revision !== undefined, staleTime: Infinity },
  );
  return useMemo(() => {
    if (!revision || !diff.data) return undefined;
    return { revision, before: readOtherSide(fromServer(item.tag_set.tags), diff.data.data).tags };
  }, [revision, diff.data, item]);
}
