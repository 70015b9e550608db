import { Badge, Group, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { fromPeriod, Notes, PeriodNote, Rate, toPeriod } from '@/insight/figures';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Panel } from '@/kit/components/Panel';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { LoadingRows } from '@/kit/lists/Listing';
import { PeriodInputs } from '@/kit/lists/PeriodInputs';
import { useListSearch } from '@/kit/lists/useListSearch';
import { QualityFrame } from './QualityFrame';
import { RateHead } from './RateHead';
import type { QualitySearch } from './search';

type Row = Schemas['FieldQuality'];

const route = getRouteApi('/work/quality/fields');
const RATES = ['correction_rate', 'agreement', 'model_accuracy'] as const;

/** Those that are corrected most come first. */
function byNeed(fields: readonly Row[]): Row[] {
  return [...fields].sort(
    (a, b) => (b.correction_rate.value ?? -1) - (a.correction_rate.value ?? -1),
  );
}

export function FieldsPage() {
  const { t } = useTranslation('insight/quality');
  const search: QualitySearch = route.useSearch();
  const { filter } = useListSearch(search);
  const query = $api.useQuery(
    'get',
    '/api/v1/quality/fields',
    { params: { query: { ...toPeriod(search), schema_id: search.schema_id } } },
    { placeholderData: keepPreviousData },
  );
  const found = query.data?.data;
  const period = found && fromPeriod(found);
  return (
    <QualityFrame
      schemaId={search.schema_id}
      onSchema={(schema_id) => filter({ schema_id })}
      filters={
        <PeriodInputs
          from={search.from ?? period?.from}
          to={search.to ?? period?.to}
          onChange={filter}
        />
      }
    >
      <Panel title={t('fields.title')} description={t('fields.text')}>
        <ErrorAlert error={query.error} retry={() => void query.refetch()} />
        {query.isPending && <LoadingRows />}
        {found && <FieldsTable fields={byNeed(found.fields)} />}
        {found && <PeriodNote period={found} />}
        <Notes messages={(found?.warnings ?? []).map(({ message }) => message)} />
      </Panel>
    </QualityFrame>
  );
}

function FieldsTable({ fields }: { fields: readonly Row[] }) {
  const { t } = useTranslation('insight/quality');
  if (fields.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {t('fields.empty')}
      </Text>
    );
  const columns: Column<Row>[] = [
    {
      key: 'field',
      title: t('field'),
      heads: true,
      cell: ({ field, removed }) => (
        <Group gap="xs">
          <bdi>{field}</bdi>
          {removed && (
            <Badge size="sm" variant="default">
              {t('fields.removed')}
            </Badge>
          )}
        </Group>
      ),
    },
    { key: 'schema', title: t('schema'), cell: ({ schema }) => <bdi>{schema.name}</bdi> },
    { key: 'type', title: t('fields.type'), cell: ({ type }) => type },
    ...RATES.map((name): Column<Row> => ({
      key: name,
      title: t(`rates.${name}`),
      head: <RateHead name={name} />,
      cell: (row) => <Rate rate={row[name]} />,
    })),
  ];
  return (
    <DataTable
      label={t('fields.title')}
      columns={columns}
      rows={fields}
      rowKey={({ schema, field, type }) => `${schema.id} ${field} ${type}`}
      minWidth={760}
    />
  );
}
