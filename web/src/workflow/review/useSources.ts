import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { fromServer, type Source } from '@/workflow/labeling';
import type { Resubmission } from './useResubmission';

const MOST = 20;

/** What it was before, the prediction, and the other tag sets of the document, to compare with. */
export function useSources(
  item: Schemas['ReviewItemDetail'],
  resubmission: Resubmission | undefined,
): {
  sources: readonly Source[];
  others: readonly Schemas['TagSetSummary'][];
} {
  const { t } = useTranslation('workflow/review');
  const { data } = $api.useQuery('get', '/api/v1/tag-sets', {
    params: {
      query: {
        artifact_id: item.artifact.id,
        status: ['submitted', 'accepted', 'rejected'],
        page_size: MOST,
      },
    },
  });
  return useMemo(() => {
    const others = (data?.data ?? []).filter((one) => one.id !== item.id);
    const { prediction } = item;
    const name = prediction?.model ?? t('prediction');
    const predicted = prediction
      ? [{ key: 'prediction', name, tags: fromServer(prediction.tags) }]
      : [];
    const labelers = others.flatMap((one) =>
      one.tags
        ? [
            {
              key: one.id,
              name: one.labeler?.name ?? t('merge.source'),
              tags: fromServer(one.tags),
            },
          ]
        : [],
    );
    const before = resubmission
      ? [{ key: 'before', name: t('sent_back.before'), tags: resubmission.before }]
      : [];
    return { sources: [...before, ...predicted, ...labelers], others };
  }, [data, item, resubmission, t]);
}
