import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { Panel } from '@/kit/components/Panel';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { useSchemaName } from '@/schemas/artifact_schemas';
import { useFigureColumns } from './useFigureColumns';

type Row = Schemas['FieldFigures'];

/** The figures of each field, with the confidence from which it can be relied on. */
export function FieldsPanel({ found }: { found: Schemas['FeedbackByField'] }) {
  const { t } = useTranslation('insight/feedback');
  const format = useFormat();
  return (
    <Panel
      title={t('fields.title')}
      description={t('fields.text', { target: format.percent(found.target_precision) })}
    >
      {found.fields.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('fields.empty')}
        </Text>
      ) : (
        <FieldsTable fields={found.fields} />
      )}
    </Panel>
  );
}

function FieldsTable({ fields }: { fields: readonly Row[] }) {
  const { t } = useTranslation('insight/feedback');
  const format = useFormat();
  const nameSchema = useSchemaName();
  const figures = useFigureColumns<Row>();
  const rate = (value: number | null) => (value === null ? '–' : format.percent(value, 1));
  const columns: Column<Row>[] = [
    {
      key: 'field',
      title: t('fields.field'),
      heads: true,
      cell: ({ field, schema_id }) => (
        <>
          <Text size="sm" dir="auto" ta="start">
            {field}
          </Text>
          <Text size="xs" c="dimmed" dir="auto" ta="start">
            {nameSchema(schema_id)}
          </Text>
        </>
      ),
    },
    ...figures,
    {
      key: 'error',
      title: t('fields.error'),
      align: 'end',
      cell: ({ calibration }) => rate(calibration.expected_calibration_error),
    },
    {
      key: 'threshold',
      title: t('fields.threshold'),
      align: 'end',
      cell: ({ recommended_threshold: threshold }) =>
        threshold && (
          <>
            <Text size="sm" fw={600}>
              {format.number(threshold.value, { maximumFractionDigits: 3 })}
            </Text>
            <Text size="xs" c="dimmed">
              {t('fields.coverage', { share: format.percent(threshold.coverage) })}
            </Text>
          </>
        ),
    },
  ];
  return (
    <DataTable
      label={t('fields.title')}
      columns={columns}
      rows={fields}
      rowKey={({ schema_id, field }) => `${schema_id} ${field}`}
      minWidth={760}
    />
  );
}
