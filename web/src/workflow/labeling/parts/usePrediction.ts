import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, api, unwrap } from '@/kit/api/client';
import { pollWhile } from '@/kit/api/polling';
import type { Schemas } from '@/kit/api/types';
import { notifyDone } from '@/kit/components/notify';
import { currentRole, useMay } from '@/kit/session/may';
import { readOtherSide } from '../model/otherSide';
import type { Session } from '../model/session';
import type { LocalTag } from '../model/tags';

const ARTIFACT = '/api/v1/artifacts/{artifact_id}';

interface Params {
  tagSet: Schemas['TagSet'];
  artifact: Schemas['Artifact'];
  schema: Schemas['SchemaDetail'];
  session: Session;
}

/** A labeler who labels independently of others may not see what a model says. */
function isBlind(schema: Schemas['SchemaDetail']): boolean {
  return currentRole() === 'labeler' && schema.review_policy.labels_per_artifact > 1;
}

/** Adds the values of the latest prediction that the draft lacks, as suggestions. */
async function takeOver(tagSetId: string, { editor, saver }: Session) {
  await saver.flush();
  const path = { tag_set_id: tagSetId };
  const call = api.GET('/api/v1/tag-sets/{tag_set_id}/diff', {
    params: { path, query: { prediction: true } },
  });
  const { tags, missing } = readOtherSide(editor.state.tags, (await unwrap(call)).data);
  return { tags, count: editor.suggest(missing) };
}

export interface PredictionState {
  /** Asks for a prediction; nothing if the caller may not. */
  ask: (() => void) | undefined;
  isPending: boolean;
  error: unknown;
  /** What was predicted, at the places of the draft. */
  tags: readonly LocalTag[] | undefined;
}

/** Predictions that are asked for while a draft is open; one that is being made is waited for. */
export function usePrediction({ tagSet, artifact, schema, session }: Params): PredictionState {
  const queryClient = useQueryClient();
  const may = useMay();
  const [awaited, setAwaited] = useState(
    artifact.prediction?.status === 'queued' ? artifact.prediction.id : undefined,
  );
  const [failure, setFailure] = useState<Error>();
  const { t } = useTranslation('workflow/labeling');
  const taking = useMutation({
    mutationFn: () => takeOver(tagSet.id, session),
    onSuccess: ({ count }) => notifyDone(t('prediction.done', { count })),
  });
  const request = $api.useMutation('post', '/api/v1/artifacts/{artifact_id}/predict', {
    onSuccess: async ({ data }) => {
      setAwaited(data.id);
      await queryClient.invalidateQueries({ queryKey: ['get', ARTIFACT] });
    },
  });
  const params = { path: { artifact_id: artifact.id } };
  const { data } = $api.useQuery(
    'get',
    ARTIFACT,
    { params },
    { enabled: awaited !== undefined, refetchInterval: (query) => pollWhile(query, true) },
  );
  const prediction = data?.data.prediction;
  const ended =
    prediction?.id === awaited && prediction?.status !== 'queued' ? prediction : undefined;
  const { mutate: take } = taking;
  useEffect(() => {
    if (awaited === undefined || !ended) return;
    // The prediction ended outside of React.
    // oxlint-disable-next-line react/set-state-in-effect
    setAwaited(undefined);
    if (ended.status === 'completed') take();
    else setFailure(new Error(ended.error?.message ?? ended.status));
  }, [awaited, ended, take]);
  const isAllowed = may('predictions:create') && schema.ai_assist_enabled && !isBlind(schema);
  const isPending = request.isPending || awaited !== undefined || taking.isPending;
  const ask = () => {
    if (isPending) return;
    setFailure(undefined);
    request.mutate({ params });
  };
  return {
    ask: isAllowed ? ask : undefined,
    isPending,
    error: request.error ?? taking.error ?? failure,
    tags: taking.data?.tags,
  };
}
