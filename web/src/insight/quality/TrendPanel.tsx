import { Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Notes, toPeriod } from '@/insight/figures';
import { $api } from '@/kit/api/client';
import { asJson } from '@/kit/api/json';
import type { Schemas } from '@/kit/api/types';
import { ChartPanel, LazyLines } from '@/kit/charts';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { LoadingRows } from '@/kit/lists/Listing';
import { useMay } from '@/kit/session/may';
import type { Metric, TrendSearch } from './search';
import { TrendFilters } from './TrendFilters';
import { listLines, listRows, tidySearch, type TrendLine, type TrendRow } from './trends';

const MOST_LINES = 8;

interface Props {
  search: TrendSearch;
  onChange: (changes: Partial<TrendSearch>) => void;
}

/** One figure over time, as lines or as a table. */
export function TrendPanel({ search, onChange }: Props) {
  const { t } = useTranslation('insight/quality');
  const may = useMay();
  const rights = { isReviewer: may('quality:review'), isLabeler: may('tag_sets:write') };
  const tidy = tidySearch(search, rights);
  const query = { ...tidy, ...toPeriod(tidy), cursor: undefined };
  const answer = $api.useQuery(
    'get',
    '/api/v1/quality/trends',
    { params: { query } },
    { placeholderData: keepPreviousData },
  );
  const trends = asJson(answer.data)?.data;
  const metric = tidy.metric ?? 'agreement';
  const show = (asTable: boolean) =>
    trends && !answer.error && <Figures trends={trends} metric={metric} asTable={asTable} />;
  return (
    <ChartPanel title={t('trend.title')} chart={show(false)} table={show(true)}>
      <TrendFilters search={tidy} rights={rights} onChange={onChange} />
      <ErrorAlert error={answer.error} retry={() => void answer.refetch()} />
      {answer.isPending && <LoadingRows />}
    </ChartPanel>
  );
}

/** Returns how the values of a figure are written. */
function useValueFormat(metric: Metric): (value: number) => string {
  const format = useFormat();
  if (metric === 'throughput') return (value) => format.number(value);
  if (metric === 'seconds_spent')
    return (value) => format.number(value, { maximumFractionDigits: 0 });
  return (value) => format.percent(value, 1);
}

interface FiguresProps {
  trends: Schemas['QualityTrends'];
  metric: Metric;
  asTable: boolean;
}

function Figures({ trends, metric, asTable }: FiguresProps) {
  const { t } = useTranslation('insight/quality');
  const format = useFormat();
  const write = useValueFormat(metric);
  const lines = listLines(trends, t('trend.one_line'));
  const rows = listRows(lines, (day) => format.date(`${day}T12:00`));
  const isRate = metric !== 'throughput' && metric !== 'seconds_spent';
  if (lines.length === 0 || rows.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {t('trend.none')}
      </Text>
    );
  const bucket = t(`buckets.${trends.bucket as 'day'}`);
  const label = t('trend.label', { metric: t(`metrics.${metric}`), bucket });
  return (
    <>
      {asTable ? (
        <TrendTable label={label} lines={lines} rows={rows} write={write} />
      ) : (
        <LazyLines
          label={label}
          lines={lines.slice(0, MOST_LINES)}
          rows={rows}
          format={write}
          {...(isRate && { domain: [0, 1] as [number, number] })}
        />
      )}
      {!asTable && lines.length > MOST_LINES && (
        <Text size="xs" c="dimmed">
          {t('trend.some', { shown: MOST_LINES, total: lines.length })}
        </Text>
      )}
      <Notes messages={trends.warnings.map(({ message }) => message)} />
    </>
  );
}

interface TableProps {
  label: string;
  lines: readonly TrendLine[];
  rows: readonly TrendRow[];
  write: (value: number) => string;
}

const COLUMN_WIDTH = 140;

function TrendTable({ label, lines, rows, write }: TableProps) {
  const { t } = useTranslation('insight/quality');
  const columns: Column<TrendRow>[] = [
    { key: 'at', title: t('trend.period'), heads: true, cell: ({ at }) => at },
    ...lines.map(({ key, name }): Column<TrendRow> => ({
      key,
      title: name,
      align: 'end',
      cell: (row) => (typeof row[key] === 'number' ? write(row[key]) : '–'),
    })),
  ];
  const width = (lines.length + 1) * COLUMN_WIDTH;
  return (
    <DataTable
      label={label}
      columns={columns}
      rows={rows}
      rowKey={({ from }) => from}
      minWidth={width}
    />
  );
}
