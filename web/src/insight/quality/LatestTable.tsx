import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Rate } from '@/insight/figures';
import type { Schemas } from '@/kit/api/types';
import { useFormat } from '@/kit/i18n/format';
import { DataTable } from '@/kit/lists/DataTable';
import { RateHead } from './RateHead';

type Row = Schemas['SchemaQuality'];

const RATES = ['agreement', 'acceptance_rate', 'correction_rate', 'gold_accuracy'] as const;

/** The present figures of each schema. */
export function LatestTable({ schemas }: { schemas: readonly Row[] }) {
  const { t } = useTranslation('insight/quality');
  const format = useFormat();
  if (schemas.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {t('latest.empty')}
      </Text>
    );
  return (
    <DataTable<Row>
      label={t('latest.title')}
      rows={schemas}
      rowKey={({ schema }) => schema.id}
      minWidth={820}
      columns={[
        {
          key: 'schema',
          title: t('schema'),
          heads: true,
          cell: ({ schema }) => <bdi>{schema.name}</bdi>,
        },
        ...RATES.map((name) => ({
          key: name,
          title: t(`rates.${name}`),
          head: <RateHead name={name} />,
          cell: (row: Row) => <Rate rate={row[name]} />,
        })),
        {
          key: 'submitted',
          title: t('latest.submitted'),
          align: 'end',
          cell: ({ throughput }) => format.number(throughput.submitted),
        },
        {
          key: 'seconds',
          title: t('latest.seconds'),
          align: 'end',
          cell: ({ speed }) =>
            speed.mean_seconds === null
              ? '–'
              : format.number(speed.mean_seconds, {
                  style: 'unit',
                  unit: 'second',
                  maximumFractionDigits: 0,
                }),
        },
      ]}
    />
  );
}
