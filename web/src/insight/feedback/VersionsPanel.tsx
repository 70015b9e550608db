import { Button, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { Panel } from '@/kit/components/Panel';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { Listing } from '@/kit/lists/Listing';
import { useSchemaName } from '@/schemas/artifact_schemas';
import type { ModelsSearch } from './routes';
import { useFigureColumns } from './useFigureColumns';

type Model = Schemas['FeedbackModel'];

interface Props {
  search: ModelsSearch;
  onCursor: (cursor: string | undefined) => void;
  onModel: (model: string, schemaId: string) => void;
}

/** All models with feedback, each compared with the one before. */
export function VersionsPanel({ search, onCursor, onModel }: Props) {
  const { t } = useTranslation('insight/feedback');
  const { schema_id, cursor } = search;
  const query = $api.useQuery(
    'get',
    '/api/v1/feedback/models',
    { params: { query: { schema_id, cursor } } },
    { placeholderData: keepPreviousData },
  );
  return (
    <Panel title={t('versions.title')} description={t('versions.text')}>
      <Listing
        query={query}
        cursor={cursor}
        onCursor={onCursor}
        isFiltered={schema_id !== undefined}
        empty={{ title: t('versions.empty'), description: t('versions.empty_text') }}
      >
        {(rows) => <ModelsTable models={rows} onModel={onModel} />}
      </Listing>
    </Panel>
  );
}

interface TableProps {
  models: readonly Model[];
  onModel: Props['onModel'];
}

function ModelsTable({ models, onModel }: TableProps) {
  const { t } = useTranslation('insight/feedback');
  const format = useFormat();
  const nameSchema = useSchemaName();
  const figures = useFigureColumns<Model>();
  const day = (value: string) => format.date(`${value}T12:00`);
  const columns: Column<Model>[] = [
    {
      key: 'model',
      title: t('model'),
      heads: true,
      cell: ({ model, schema_id }) => (
        <>
          <Text size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
            {model}
          </Text>
          <Button
            size="compact-xs"
            variant="subtle"
            fw={400}
            ms={-8}
            onClick={() => onModel(model, schema_id)}
          >
            {t('versions.only')}
          </Button>
        </>
      ),
    },
    {
      key: 'schema',
      title: t('versions.schema'),
      cell: ({ schema_id }) => <bdi>{nameSchema(schema_id)}</bdi>,
    },
    {
      key: 'period',
      title: t('versions.period'),
      cell: ({ first_date, last_date }) => `${day(first_date)} – ${day(last_date)}`,
    },
    ...figures,
    {
      key: 'comparison',
      title: t('versions.comparison'),
      cell: ({ comparison }) => (
        <Text size="xs" c="dimmed" maw={240}>
          {comparison ? `${comparison.model}: ${comparison.verdict}` : t('versions.first')}
        </Text>
      ),
    },
  ];
  return (
    <DataTable
      label={t('versions.title')}
      columns={columns}
      rows={models}
      rowKey={({ model, schema_id }) => `${schema_id} ${model}`}
      minWidth={900}
    />
  );
}
