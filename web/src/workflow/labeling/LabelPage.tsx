import { Button, Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { isApiError } from '@/kit/api/errors';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { Page } from '@/kit/components/Page';
import { Labeling } from './Labeling';
import { artifactQuery, draftKey, readDraft } from './reading';
import { useNext } from './useNext';

const route = getRouteApi('/work/label/$artifactId');

/** The caller's draft of a document; made if there is none, from the prediction if there is one. */
function useDraft(artifactId: string) {
  const artifact = useQuery(artifactQuery(artifactId));
  const draft = useQuery({
    queryKey: draftKey(artifactId),
    queryFn: () => readDraft(artifactId),
    gcTime: 0,
    staleTime: Infinity,
  });
  const create = $api.useMutation('post', '/api/v1/artifacts/{artifact_id}/tag-sets');
  const isStarted = useRef(false);
  const isMissing = draft.data === null;
  const { mutate } = create;
  const hasPrediction = artifact.data?.data.prediction?.status === 'completed';
  useEffect(() => {
    if (!isMissing || !artifact.data || isStarted.current) return;
    isStarted.current = true;
    const params = { path: { artifact_id: artifactId } };
    const empty = { params, body: { from: 'empty' } };
    if (!hasPrediction) mutate(empty);
    else
      mutate(
        { params, body: { from: 'prediction' } },
        {
          // A labeler who labels independently gets no prediction.
          onError: (error) => {
            if (isApiError(error) && error.field === 'from') mutate(empty);
          },
        },
      );
  }, [isMissing, artifact.data, hasPrediction, artifactId, mutate]);
  return {
    tagSet: draft.data ?? create.data?.data,
    error: artifact.error ?? draft.error ?? create.error,
  };
}

function Draft({ artifactId }: { artifactId: string }) {
  const { t } = useTranslation('workflow/labeling');
  const { tagSet, error } = useDraft(artifactId);
  const next = useNext();
  const navigate = useNavigate();
  // Without another document, the page that says so.
  const leave = async () => {
    if (!(await next.go([artifactId]))) await navigate({ to: '/label', replace: true });
  };
  if (tagSet) return <Labeling tagSet={tagSet} />;
  if (!error) return <Loading />;
  return (
    <Page title={t('draft.failed')} size="narrow">
      <Stack>
        <ErrorAlert error={error} />
        <ErrorAlert error={next.error} />
        <Group>
          <Button onClick={() => void leave().catch(() => undefined)} loading={next.isPending}>
            {t('next.title')}
          </Button>
        </Group>
      </Stack>
    </Page>
  );
}

export function LabelPage() {
  const { artifactId } = route.useParams();
  // Each document begins anew: editor, view and draft are its own.
  return <Draft key={artifactId} artifactId={artifactId} />;
}
