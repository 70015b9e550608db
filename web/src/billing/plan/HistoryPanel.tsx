import { Select } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ChartPanel, LazyLines } from '@/kit/charts';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { useFormat } from '@/kit/i18n/format';
import { DataTable } from '@/kit/lists/DataTable';
import { LoadingRows } from '@/kit/lists/Listing';
import { useListSearch } from '@/kit/lists/useListSearch';
import { METERS, writeQuantity, type Meter } from './meters';

const route = getRouteApi('/work/billing');

/** A meter by day: what was in use, added and removed. */
export function HistoryPanel() {
  const { t } = useTranslation('billing/plan');
  const format = useFormat();
  const search = route.useSearch();
  const { filter } = useListSearch<typeof search & { cursor?: undefined }>(search);
  const meter: Meter = search.meter ?? 'documents_per_month';
  const query = $api.useQuery(
    'get',
    '/api/v1/billing/usage/history',
    { params: { query: { meter } } },
    { placeholderData: keepPreviousData },
  );
  const days = query.data?.data.meters.find((one) => one.meter === meter)?.days ?? [];
  const name = t(`meters.${meter}`);
  return (
    <ChartPanel
      title={t('history.title')}
      chart={
        days.length > 0 && (
          <LazyLines
            label={`${t('history.title')}: ${name}`}
            lines={[{ key: 'used', name: t('history.used') }]}
            rows={days.map(({ day, used }) => ({
              at: format.date(`${day}T12:00`),
              used,
            }))}
            format={(value) => writeQuantity(format, meter, value)}
          />
        )
      }
      table={<HistoryTable days={days} meter={meter} />}
    >
      <Select
        label={t('history.meter')}
        w={260}
        maw="100%"
        allowDeselect={false}
        value={meter}
        data={METERS.map((value) => ({ value, label: t(`meters.${value}`) }))}
        onChange={(next) => filter({ meter: METERS.find((one) => one === next) })}
      />
      <ErrorAlert error={query.error} retry={() => void query.refetch()} />
      {query.isPending && <LoadingRows rows={3} />}
    </ChartPanel>
  );
}

interface TableProps {
  days: readonly Schemas['UsageDay'][];
  meter: Meter;
}

function HistoryTable({ days, meter }: TableProps) {
  const { t } = useTranslation('billing/plan');
  const format = useFormat();
  return (
    <DataTable
      label={t('history.title')}
      rows={days.toReversed()}
      rowKey={({ day }) => day}
      minWidth={420}
      columns={[
        {
          key: 'day',
          title: t('history.day'),
          heads: true,
          cell: ({ day }) => format.date(`${day}T12:00`),
        },
        ...(['used', 'added', 'removed'] as const).map((name) => ({
          key: name,
          title: t(`history.${name}`),
          align: 'end' as const,
          cell: (row: Schemas['UsageDay']) => writeQuantity(format, meter, row[name]),
        })),
      ]}
    />
  );
}
