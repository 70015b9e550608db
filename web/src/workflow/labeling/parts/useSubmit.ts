import { useState } from 'react';
import { $api } from '@/kit/api/client';
import type { Session } from '../model/session';
import { expectLoss, hasStatus } from './lostAnswers';
import { submitDraft } from './submitting';

/** Saves what is left and submits the draft; errors are shown at their fields. */
export function useSubmit(
  tagSetId: string,
  session: Session | undefined,
  done: () => Promise<unknown>,
) {
  const mutation = $api.useMutation('post', '/api/v1/tag-sets/{tag_set_id}/submit');
  const [repeatable] = useState(() => expectLoss(hasStatus('submitted', 'accepted')));
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>();

  const send = (revision: number) => {
    const header = { 'If-Match': `"${revision}"` };
    const params = { path: { tag_set_id: tagSetId }, header };
    return repeatable(() => mutation.mutateAsync({ params }));
  };
  const submit = () => {
    if (!session || isRunning) return;
    setRunning(true);
    setError(undefined);
    void submitDraft(session, send)
      .then((isSent) => (isSent ? done() : undefined))
      .catch(setError)
      .finally(() => setRunning(false));
  };
  return { submit, isPending: isRunning, error };
}
