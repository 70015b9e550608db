import { Progress, Stack, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
import { pollEvery } from '@/kit/api/polling';
import { Panel } from '@/kit/components/Panel';
import { StatusBadge } from '@/kit/components/StatusBadge';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { Pager } from '@/kit/lists/Pager';
import { useSchemaName } from '@/schemas/artifact_schemas';
import { doneShare, isActive, type Run } from './runs';

const ASK_MILLISECONDS = 1_500;
const PAGE_SIZE = 10;

interface Props {
  schemaId: string | undefined;
  cursor: string | undefined;
  onCursor: (cursor: string | undefined) => void;
}

/** Past and running computations. While one runs, its progress is followed. */
export function RunsPanel({ schemaId, cursor, onCursor }: Props) {
  const { t } = useTranslation('insight/quality');
  const query = $api.useQuery(
    'get',
    '/api/v1/quality/runs',
    {
      params: {
        query: { schema_id: schemaId, cursor, sort: '-created_at', page_size: PAGE_SIZE },
      },
    },
    {
      placeholderData: keepPreviousData,
      refetchInterval: (polled) =>
        pollEvery(polled, ASK_MILLISECONDS, polled.state.data?.data.some(isActive) ?? false),
    },
  );
  const running = query.data?.data.filter(isActive).length ?? 0;
  useRefreshWhenFewer(running);
  if (!query.data || query.data.meta.total === 0) return null;
  return (
    <Panel title={t('runs.title')}>
      <RunsTable runs={query.data.data} />
      <Pager meta={query.data.meta} cursor={cursor} onCursor={onCursor} />
    </Panel>
  );
}

/** Reads the agreement again when a computation has ended. */
function useRefreshWhenFewer(running: number): void {
  const before = useRef(running);
  useEffect(() => {
    if (running < before.current)
      void queryClient.invalidateQueries({ queryKey: ['get', '/api/v1/quality/agreement'] });
    before.current = running;
  }, [running]);
}

function RunsTable({ runs }: { runs: readonly Run[] }) {
  const { t } = useTranslation('insight/quality');
  const format = useFormat();
  const nameSchema = useSchemaName();
  const columns: Column<Run>[] = [
    {
      key: 'started',
      title: t('runs.started'),
      heads: true,
      cell: ({ created_at }) => format.dateTime(created_at),
    },
    {
      key: 'schema',
      title: t('schema'),
      cell: ({ schema_id }) => <bdi>{nameSchema(schema_id)}</bdi>,
    },
    {
      key: 'fields',
      title: t('runs.fields'),
      cell: ({ fields }) => (
        <bdi>{fields.length === 0 ? t('runs.fields_all') : fields.join(', ')}</bdi>
      ),
    },
    { key: 'state', title: t('runs.state'), cell: (run) => <RunState run={run} /> },
  ];
  return (
    <DataTable
      label={t('runs.title')}
      columns={columns}
      rows={runs}
      rowKey={({ id }) => id}
      minWidth={620}
    />
  );
}

function RunState({ run }: { run: Run }) {
  const { t } = useTranslation('insight/quality');
  const format = useFormat();
  const { done, total, eta_seconds } = run.progress;
  if (run.status === 'failed')
    return (
      <Text size="sm" c="var(--mantine-color-error)">
        {`${t('runs.failed')}: ${run.error?.message ?? ''}`}
      </Text>
    );
  if (!isActive(run)) return <StatusBadge tone="good">{t('runs.completed')}</StatusBadge>;
  const share = doneShare(run);
  const left =
    eta_seconds === null
      ? ''
      : t('runs.left', {
          time: format.number(eta_seconds, { style: 'unit', unit: 'second' }),
        });
  return (
    <Stack gap={2} role="status">
      <Text size="xs">
        {total === null
          ? t(`runs.${run.status as 'queued'}`)
          : `${t('runs.progress', { done: format.number(done), total: format.number(total) })} ${left}`}
      </Text>
      <Progress value={share ?? 100} animated aria-label={t('runs.running')} />
    </Stack>
  );
}
