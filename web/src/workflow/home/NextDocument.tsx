import { useRouter } from '@tanstack/react-router';
import { FilePen } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { isCalling } from '@/kit/api/queryClient';
import { useFormat } from '@/kit/i18n/format';
import { useKeys } from '@/kit/keys/keys';
import { documentAddress } from './addresses';
import { StartCard } from './StartCard';

const NEXT = '/api/v1/artifacts/next';

/** Claims the most urgent document that the caller may label, and opens it. */
export function NextDocument() {
  const { t } = useTranslation('workflow/home');
  const { number } = useFormat();
  const router = useRouter();
  const stats = $api.useQuery('get', '/api/v1/artifacts/stats').data?.data;
  const next = $api.useMutation('post', NEXT);
  const start = () => {
    if (isCalling(NEXT)) return;
    next.mutate(
      { body: {} },
      {
        onSuccess: ({ data }) => data && void router.navigate({ to: documentAddress(data.id) }),
      },
    );
  };
  useKeys(t('title'), [{ keys: 'n', text: t('label.start'), run: start }]);
  const isNothing = next.isSuccess && next.data.data === null;
  return (
    <StartCard
      title={t('label.title')}
      icon={FilePen}
      button={t('label.start')}
      keys="n"
      start={start}
      isPending={next.isPending}
      nothing={isNothing ? t('label.nothing') : undefined}
      error={next.error}
    >
      {stats && t('label.open', { count: stats.open, shown: number(stats.open) })}
      {stats !== undefined && stats.overdue > 0 && (
        <div>{t('overdue', { count: stats.overdue, shown: number(stats.overdue) })}</div>
      )}
    </StartCard>
  );
}
