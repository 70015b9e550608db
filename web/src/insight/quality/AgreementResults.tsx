import { Group, Select, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Notes } from '@/insight/figures';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ChartPanel, LazyBars } from '@/kit/charts';
import { EmptyState } from '@/kit/components/EmptyState';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { useFormat } from '@/kit/i18n/format';
import { DataTable } from '@/kit/lists/DataTable';
import { LoadingRows } from '@/kit/lists/Listing';
import { PairsPanel } from './PairsPanel';
import { chooseCoefficient, listCoefficients, type Coefficient } from './runs';

type Agreement = Schemas['Agreement'];

interface Props {
  schemaId: string;
  field: string | undefined;
}

/** The newest agreement of a schema: by field, and by pair of labelers. */
export function AgreementResults({ schemaId, field }: Props) {
  const { t } = useTranslation('insight/quality');
  const [chosen, setChosen] = useState<Coefficient>();
  const query = $api.useQuery('get', '/api/v1/quality/agreement', {
    params: { query: { schema_id: schemaId, field } },
  });
  const agreement = query.data?.data;
  if (!agreement)
    return query.error ? (
      <ErrorAlert error={query.error} retry={() => void query.refetch()} />
    ) : (
      <LoadingRows />
    );
  if (agreement.computed_at === null)
    return <EmptyState title={t('agreement.never')} description={t('agreement.never_text')} />;
  const known = listCoefficients(agreement.results);
  const metric = known.find((one) => one === chosen) ?? chooseCoefficient(agreement.results);
  return (
    <>
      <ByField agreement={agreement} metric={metric} known={known} onMetric={setChosen} />
      {metric !== undefined && <PairsPanel pairs={agreement.pairs} metric={metric} />}
    </>
  );
}

function useComputed(agreement: Agreement): string {
  const { t } = useTranslation('insight/quality');
  const format = useFormat();
  const to = agreement.to === null ? '' : format.date(agreement.to);
  const period =
    agreement.from === null
      ? t('agreement.period_all', { to })
      : t('agreement.period', { from: format.date(agreement.from), to });
  const when = agreement.computed_at === null ? '' : format.relative(agreement.computed_at);
  return t('agreement.computed', { when, period });
}

interface ByFieldProps {
  agreement: Agreement;
  metric: Coefficient | undefined;
  known: readonly Coefficient[];
  onMetric: (metric: Coefficient | undefined) => void;
}

function ByField({ agreement, metric, known, onMetric }: ByFieldProps) {
  const { t } = useTranslation('insight/quality');
  const format = useFormat();
  const computed = useComputed(agreement);
  const results = agreement.results.filter((result) => result.metric === metric);
  const name = metric === undefined ? '' : t(`coefficients.${metric}`);
  return (
    <ChartPanel
      title={t('agreement.title')}
      description={computed}
      chart={
        results.length > 0 && (
          <LazyBars
            label={t('agreement.label', { metric: name })}
            sideways
            bars={[{ key: 'value', name }]}
            rows={results.map(({ field, value }) => ({ at: field, value }))}
            format={(value) => format.number(value, { maximumFractionDigits: 2 })}
            domain={[Math.min(0, ...results.map(({ value }) => value ?? 0)), 1]}
          />
        )
      }
      table={<ResultsTable results={agreement.results} />}
    >
      {metric === undefined ? (
        <Text size="sm" c="dimmed">
          {t('agreement.no_results')}
        </Text>
      ) : (
        <Group>
          <Select
            label={t('agreement.metric')}
            w={230}
            allowDeselect={false}
            value={metric}
            data={known.map((value) => ({ value, label: t(`coefficients.${value}`) }))}
            onChange={(next) => onMetric(known.find((one) => one === next))}
          />
        </Group>
      )}
      <Notes messages={agreement.warnings.map(({ message }) => message)} />
    </ChartPanel>
  );
}

function ResultsTable({ results }: { results: Agreement['results'] }) {
  const { t } = useTranslation('insight/quality');
  const format = useFormat();
  const write = (value: number | null) =>
    value === null ? '–' : format.number(value, { maximumFractionDigits: 2 });
  return (
    <DataTable
      label={t('agreement.title')}
      rows={results}
      rowKey={({ field, metric }) => `${field} ${metric}`}
      columns={[
        {
          key: 'field',
          title: t('field'),
          heads: true,
          cell: ({ field }) => <bdi>{field}</bdi>,
        },
        {
          key: 'metric',
          title: t('agreement.metric'),
          cell: ({ metric }) => t(`coefficients.${metric as Coefficient}`),
        },
        {
          key: 'value',
          title: t('agreement.value'),
          align: 'end',
          cell: ({ value }) => write(value),
        },
        {
          key: 'interval',
          title: t('agreement.interval'),
          align: 'end',
          cell: ({ ci_low, ci_high }) => `${write(ci_low)} – ${write(ci_high)}`,
        },
        {
          key: 'documents',
          title: t('agreement.documents'),
          align: 'end',
          cell: ({ documents }) => format.number(documents),
        },
        {
          key: 'raters',
          title: t('agreement.raters'),
          align: 'end',
          cell: ({ raters }) => format.number(raters),
        },
        {
          key: 'units',
          title: t('agreement.units'),
          align: 'end',
          cell: ({ units }) => format.number(units),
        },
      ]}
    />
  );
}
