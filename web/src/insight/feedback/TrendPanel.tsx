import { keepPreviousData } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ChartPanel, LazyLines } from '@/kit/charts';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { useFormat } from '@/kit/i18n/format';
import { DataTable } from '@/kit/lists/DataTable';
import type { ModelsSearch } from './routes';
import { RATES, useFigureColumns } from './useFigureColumns';

type Row = Schemas['TrendFigures'];

/** The figures of all chosen predictions by month. */
export function TrendPanel({ query }: { query: Omit<ModelsSearch, 'cursor'> }) {
  const { t } = useTranslation('insight/feedback');
  const format = useFormat();
  const figures = useFigureColumns<Row>();
  const { schema_id, model, field, from, to } = query;
  const answer = $api.useQuery(
    'get',
    '/api/v1/feedback/summary',
    { params: { query: { schema_id, model, field, from, to, interval: 'month' } } },
    { placeholderData: keepPreviousData },
  );
  const trend = answer.data?.data.trend ?? [];
  if (trend.length === 0) return <ErrorAlert error={answer.error} />;
  return (
    <ChartPanel
      title={t('trend.title')}
      chart={
        <LazyLines
          label={t('trend.label')}
          lines={RATES.map((key) => ({ key, name: t(`figures.${key}`) }))}
          rows={trend.map((row) => ({
            at: format.date(`${row.date}T12:00`),
            precision: row.precision,
            recall: row.recall,
            f1: row.f1,
          }))}
          format={(value) => format.percent(value, 1)}
          domain={[0, 1]}
        />
      }
      table={
        <DataTable<Row>
          label={t('trend.title')}
          rows={trend}
          rowKey={({ date }) => date}
          minWidth={480}
          columns={[
            {
              key: 'month',
              title: t('trend.month'),
              heads: true,
              cell: ({ date }) => format.date(`${date}T12:00`),
            },
            ...figures,
          ]}
        />
      }
    />
  );
}
