import { useQueryClient } from '@tanstack/react-query';
import { $api } from '@/kit/api/client';
import { useIdempotency } from '@/kit/api/idempotency';
import { pollEvery } from '@/kit/api/polling';
import type { Schemas } from '@/kit/api/types';
import { currentOrganization } from '@/kit/session/organization';

const LIST = '/api/v1/tag-sets/{tag_set_id}/comments';
/** More threads than anybody reads on one document. */
const MOST = 500;
const REFRESH_MILLISECONDS = 60_000;

const NONE: readonly Schemas['Comment'][] = [];

/** Reads the comments of a tag set, and resolves them. */
export function useComments(tagSetId: string) {
  const queryClient = useQueryClient();
  const params = { path: { tag_set_id: tagSetId } };
  const list = $api.useQuery(
    'get',
    LIST,
    { params: { ...params, query: { page_size: MOST } } },
    { refetchInterval: (polled) => pollEvery(polled, REFRESH_MILLISECONDS) },
  );
  const onSuccess = () => queryClient.invalidateQueries({ queryKey: ['get', LIST] });
  const resolve = $api.useMutation(
    'post',
    '/api/v1/tag-sets/{tag_set_id}/comments/{comment_id}/resolve',
    { onSuccess },
  );
  const comments = list.data?.data ?? NONE;
  return {
    comments,
    isRead: list.data !== undefined,
    error: list.error ?? resolve.error,
    resolve: (commentId: string) =>
      resolve.mutateAsync({
        params: { path: { tag_set_id: tagSetId, comment_id: commentId } },
      }),
  };
}

/** Writes comments from one box: an error belongs to the box where it was written. */
export function useCommenting(tagSetId: string) {
  const queryClient = useQueryClient();
  const idempotency = useIdempotency();
  const create = $api.useMutation('post', LIST, {
    onSuccess: () => {
      idempotency.done();
      return queryClient.invalidateQueries({ queryKey: ['get', LIST] });
    },
  });
  const path = { tag_set_id: tagSetId };
  return {
    error: create.error,
    isPending: create.isPending,
    create: (body: Schemas['CreateComment']) =>
      create.mutateAsync({ params: { path, header: idempotency.headers(body) }, body }),
  };
}

/** The members that can be mentioned. */
export function useMembers(enabled: boolean) {
  const query = $api.useQuery(
    'get',
    '/api/v1/organizations/{org_slug}/members',
    {
      params: {
        path: { org_slug: currentOrganization() ?? '' },
        query: { page_size: 1000 },
      },
    },
    { enabled, staleTime: 300_000 },
  );
  return query.data?.data ?? [];
}
