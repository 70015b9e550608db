import { useState } from 'react';
import { $api } from '@/kit/api/client';
import { isApiError } from '@/kit/api/errors';
import type { Schemas } from '@/kit/api/types';
import {
  type Editor,
  expectLoss,
  fromServer,
  hasStatus,
  type LocalTag,
  readTagErrors,
} from '@/workflow/labeling';
import { acceptOnce } from './accepting';
import type { Keeper } from './keeper';

export interface Conflict {
  readonly revision: number;
  readonly before: readonly LocalTag[];
  readonly mine: readonly LocalTag[];
  readonly theirs: readonly LocalTag[];
}

interface Params {
  item: Schemas['ReviewItemDetail'];
  editor: Editor;
  keeper: Keeper;
  done: (note: 'accepted' | 'rejected' | 'escalated' | 'released') => Promise<unknown>;
}

function showErrors(editor: Editor, failure: unknown, sent: readonly LocalTag[]): boolean {
  if (!isApiError(failure)) return false;
  if (isApiError(failure, 'required_fields_missing')) {
    editor.setMissing(new Set(failure.details['fields'] as string[]));
    return true;
  }
  const problems = readTagErrors(failure).flatMap(({ position, message }) => {
    const tag = sent[position];
    return tag ? [[tag.id, message] as const] : [];
  });
  editor.setProblems(new Map(problems));
  return problems.length > 0;
}

/** Accepting with what was corrected; a newer revision is compared first. */
function useAccept({ item, editor, keeper, done }: Params) {
  const accept = $api.useMutation('post', '/api/v1/tag-sets/{tag_set_id}/accept');
  const reread = $api.useMutation('get', '/api/v1/tag-sets/{tag_set_id}');
  const [repeatable] = useState(() => expectLoss(hasStatus('accepted')));
  const [conflict, setConflict] = useState<Conflict>();
  const [error, setError] = useState<unknown>();
  const params = { path: { tag_set_id: item.id } };
  const compare = async () => {
    const { data } = await reread.mutateAsync({ params });
    const theirs = fromServer(data.tags);
    setConflict({
      revision: data.revision,
      before: keeper.base,
      mine: editor.state.tags,
      theirs,
    });
  };
  const acceptNow = async () => {
    const outcome = await acceptOnce(editor, keeper, (body) =>
      repeatable(() => accept.mutateAsync({ params, body })),
    );
    if (outcome === 'accepted') {
      keeper.forget();
      await done('accepted');
    } else if (outcome !== 'running') {
      const { failure, sent } = outcome;
      if (isApiError(failure, 'stale_precondition')) await compare();
      else if (!showErrors(editor, failure, sent)) setError(failure);
    }
  };
  const start = () => {
    if (!editor.state.locked) setError(undefined);
    void acceptNow().catch(setError);
  };
  return {
    accept: start,
    compare,
    resolve: (merged: readonly LocalTag[]) => {
      if (conflict) keeper.rebase(conflict.revision, conflict.theirs, merged);
      setConflict(undefined);
    },
    conflict,
    error,
    setError,
    isAccepting: accept.isPending,
  };
}

/** The decisions on an item. After each, `done` goes on. */
export function useDecisions(given: Params) {
  const { item, keeper, done } = given;
  const accepting = useAccept(given);
  const reject = $api.useMutation('post', '/api/v1/tag-sets/{tag_set_id}/reject');
  const escalate = $api.useMutation('post', '/api/v1/review-queue/{item_id}/escalate');
  const release = $api.useMutation('post', '/api/v1/review-queue/{item_id}/release');
  const params = { path: { tag_set_id: item.id } };
  const path = { item_id: item.id };
  const [repeatable] = useState(() => expectLoss(hasStatus('rejected', 'draft')));

  return {
    ...accepting,
    reject: async (reason: string, sendTo: string) => {
      try {
        const body = { reason, send_to: sendTo, revision: keeper.revision };
        await repeatable(() => reject.mutateAsync({ params, body }));
      } catch (failure) {
        if (isApiError(failure, 'stale_precondition')) await accepting.compare();
        throw failure;
      }
      keeper.forget();
      await done('rejected');
    },
    escalate: async (reason: string, to: { user_id: string } | { team_id: string }) => {
      await escalate.mutateAsync({ params: { path }, body: { reason, ...to } });
      await done('escalated');
    },
    release: () =>
      void release
        .mutateAsync({ params: { path } })
        .then(() => done('released'))
        .catch(accepting.setError),
    isPending: accepting.isAccepting || release.isPending,
    rejecting: reject,
    escalating: escalate,
  };
}
