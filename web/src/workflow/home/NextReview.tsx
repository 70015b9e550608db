import { useRouter } from '@tanstack/react-router';
import { FileCheck } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { isCalling } from '@/kit/api/queryClient';
import { useFormat } from '@/kit/i18n/format';
import { useKeys } from '@/kit/keys/keys';
import { reviewAddress } from './addresses';
import { StartCard } from './StartCard';

const NEXT = '/api/v1/review-queue/next';

/** Claims the most urgent review for the caller, and opens it. */
export function NextReview() {
  const { t } = useTranslation('workflow/home');
  const { number } = useFormat();
  const router = useRouter();
  const stats = $api.useQuery('get', '/api/v1/review-queue/stats').data?.data;
  const next = $api.useMutation('post', NEXT);
  const start = () => {
    if (isCalling(NEXT)) return;
    next.mutate(
      { body: {} },
      {
        onSuccess: ({ data }) => data && void router.navigate({ to: reviewAddress(data.id) }),
      },
    );
  };
  useKeys(t('title'), [{ keys: 'r', text: t('review.start'), run: start }]);
  const isNothing = next.isSuccess && next.data.data === null;
  return (
    <StartCard
      title={t('review.title')}
      icon={FileCheck}
      button={t('review.start')}
      keys="r"
      start={start}
      isPending={next.isPending}
      nothing={isNothing ? t('review.nothing') : undefined}
      error={next.error}
    >
      {stats && t('review.depth', { count: stats.depth, shown: number(stats.depth) })}
      {stats !== undefined && stats.overdue > 0 && (
        <div>{t('overdue', { count: stats.overdue, shown: number(stats.overdue) })}</div>
      )}
      {stats !== undefined && stats.escalated > 0 && (
        <div>
          {t('review.escalated', {
            count: stats.escalated,
            shown: number(stats.escalated),
          })}
        </div>
      )}
    </StartCard>
  );
}
