import { Anchor, Group, Stack, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { FieldSelect } from '@/insight/figures';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { Panel } from '@/kit/components/Panel';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { Listing } from '@/kit/lists/Listing';
import { hasFilter } from '@/kit/lists/search';
import { useListSearch } from '@/kit/lists/useListSearch';
import { useSchemaName } from '@/schemas/artifact_schemas';
import { ConfusionPanel } from './ConfusionPanel';
import { QualityFrame } from './QualityFrame';
import { writeValue } from './values';

type Row = Schemas['Disagreement'];

const route = getRouteApi('/work/quality/disagreements');
const PAGE_SIZE = 25;

export function DisagreementsPage() {
  const { t } = useTranslation('insight/quality');
  const search = route.useSearch();
  const { filter, page } = useListSearch(search);
  const { schema_id, field, cursor, against } = search;
  const query = $api.useQuery(
    'get',
    '/api/v1/quality/disagreements',
    { params: { query: { schema_id, field, cursor, page_size: PAGE_SIZE } } },
    { placeholderData: keepPreviousData },
  );
  return (
    <QualityFrame
      schemaId={schema_id}
      onSchema={(next) => filter({ schema_id: next, field: undefined })}
      filters={
        <FieldSelect
          w={200}
          schemaId={schema_id}
          value={field}
          onChange={(next) => filter({ field: next })}
        />
      }
    >
      <ConfusionPanel
        schemaId={schema_id}
        field={field}
        against={against ?? 'labelers'}
        onAgainst={(next) => filter({ against: next === 'accepted' ? 'accepted' : undefined })}
      />
      <Panel title={t('disagreements.title')} description={t('disagreements.text')}>
        <Listing
          query={query}
          cursor={cursor}
          onCursor={page}
          isFiltered={hasFilter({ schema_id, field })}
          empty={{
            title: t('disagreements.empty'),
            description: t('disagreements.empty_text'),
          }}
        >
          {(rows) => <DisagreementsTable rows={rows} />}
        </Listing>
      </Panel>
    </QualityFrame>
  );
}

function DisagreementsTable({ rows }: { rows: readonly Row[] }) {
  const { t } = useTranslation('insight/quality');
  const format = useFormat();
  const nameSchema = useSchemaName();
  const columns: Column<Row>[] = [
    {
      key: 'document',
      title: t('disagreements.document'),
      heads: true,
      cell: ({ artifact, schema_id }) => (
        <Stack gap={0}>
          <Anchor
            component={Link}
            to={`/documents/${artifact.id}`}
            size="sm"
            dir="auto"
            style={{ overflowWrap: 'anywhere' }}
          >
            {artifact.name}
          </Anchor>
          <Text size="xs" c="dimmed" dir="auto">
            {nameSchema(schema_id)}
          </Text>
        </Stack>
      ),
    },
    { key: 'field', title: t('field'), cell: ({ field }) => <bdi>{field}</bdi> },
    {
      key: 'disagreement',
      title: t('disagreements.disagreement'),
      align: 'end',
      cell: ({ disagreement }) => format.percent(disagreement),
    },
    {
      key: 'answers',
      title: t('disagreements.answers'),
      cell: ({ answers }) => <Answers answers={answers} />,
    },
    {
      key: 'compared',
      title: t('disagreements.compared'),
      cell: ({ compared_at }) => format.date(compared_at),
    },
  ];
  return (
    <DataTable
      label={t('disagreements.title')}
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      minWidth={760}
    />
  );
}

function Answers({ answers }: { answers: Row['answers'] }) {
  const { t } = useTranslation('insight/quality');
  return (
    <Stack gap={2}>
      {answers.map(({ value, count }, index) => (
        <Group key={index} gap={6} wrap="nowrap">
          <Text size="xs" c="dimmed" miw={24} ta="end">{`${count} ×`}</Text>
          <Text size="sm" dir="auto" lineClamp={2}>
            {value === null ? <em>{t('disagreements.no_answer')}</em> : writeValue(value)}
          </Text>
        </Group>
      ))}
    </Stack>
  );
}
