import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Panel } from '@/kit/components/Panel';
import { useFormat } from '@/kit/i18n/format';
import { fromPeriod } from '@/kit/lists/days';
import { LoadingRows } from '@/kit/lists/Listing';
import { LinesTable } from './LinesTable';

/** What the running month would cost if it were closed now. */
export function UpcomingPanel() {
  const { t } = useTranslation('billing/invoices');
  const format = useFormat();
  const query = $api.useQuery('get', '/api/v1/billing/invoices/upcoming');
  const upcoming = query.data?.data;
  // The months of billing are those of UTC.
  const days =
    upcoming &&
    fromPeriod({
      from: upcoming.period.from.slice(0, 10),
      to: upcoming.period.to.slice(0, 10),
    });
  return (
    <Panel
      title={t('upcoming.title')}
      {...(days && {
        description: t('upcoming.text', {
          from: format.date(`${days.from}T12:00`),
          to: format.date(`${days.to}T12:00`),
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
