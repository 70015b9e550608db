import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Panel } from '@/kit/components/Panel';
import { useFormat } from '@/kit/i18n/format';
import { LoadingRows } from '@/kit/lists/Listing';
import { LinesTable } from './LinesTable';

const DAY_MILLISECONDS = 86_400_000;

/** What the running month would cost if it were closed now. */
export function UpcomingPanel() {
  const { t } = useTranslation('billing/invoices');
  const format = useFormat();
  const query = $api.useQuery('get', '/api/v1/billing/invoices/upcoming');
  const upcoming = query.data?.data;
  const middle = (time: string, shift: number) =>
    format.date(new Date(Date.parse(time) + shift * DAY_MILLISECONDS));
  return (
    <Panel
      title={t('upcoming.title')}
      {...(upcoming && {
        description: t('upcoming.text', {
          from: middle(upcoming.period.from, 0.5),
          to: middle(upcoming.period.to, -0.5),
        }),
      })}
    >
      <ErrorAlert error={query.error} retry={() => void query.refetch()} />
      {query.isPending && <LoadingRows rows={2} />}
      {upcoming &&
        (upcoming.lines.length === 0 ? (
          <Text size="sm" c="dimmed">
            {t('upcoming.nothing')}
          </Text>
        ) : (
          <LinesTable invoice={upcoming} />
        ))}
    </Panel>
  );
}
