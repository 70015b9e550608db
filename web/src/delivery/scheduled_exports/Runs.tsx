import { Anchor, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { DownloadButton, StatusCell } from '@/delivery/exports';
import { $api } from '@/kit/api/client';
import { pollRows } from '@/kit/api/polling';
import type { Schemas } from '@/kit/api/types';
import { Section } from '@/kit/components/Section';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { Listing } from '@/kit/lists/Listing';
import { useListSearch } from '@/kit/lists/useListSearch';

const route = getRouteApi('/work/exports/schedules/$scheduleId');

type Run = Schemas['ScheduledExportRun'];

const ENDED: Run['status'][] = ['completed', 'failed', 'cancelled'];

const isRunning = ({ status }: Run) => !ENDED.includes(status);

/** The runs of a schedule, each with its file and where it was delivered. */
export function Runs({ scheduled }: { scheduled: Schemas['ScheduledExport'] }) {
  const { t } = useTranslation('delivery/scheduled_exports');
  const search = route.useSearch();
  const { page } = useListSearch(search);
  const columns = useColumns(scheduled);
  const query = $api.useQuery(
    'get',
    '/api/v1/exports/scheduled/{export_id}/runs',
    {
      params: {
        path: { export_id: scheduled.id },
        query: { ...search, sort: '-created_at', page_size: 25 },
      },
    },
    { placeholderData: keepPreviousData, refetchInterval: pollRows<Run>(isRunning) },
  );
  return (
    <Section title={t('runs.title')}>
      <Listing
        query={query}
        cursor={search.cursor}
        onCursor={page}
        empty={{ title: t('runs.none') }}
      >
        {(rows) => (
          <DataTable
            label={t('runs.title')}
            columns={columns}
            rows={rows}
            rowKey={(one) => one.id}
          />
        )}
      </Listing>
    </Section>
  );
}

function useColumns(scheduled: Schemas['ScheduledExport']): Column<Run>[] {
  const { t } = useTranslation('delivery/scheduled_exports');
  const format = useFormat();
  const columns: Column<Run>[] = [
    {
      key: 'at',
      title: t('runs.at'),
      cell: (run) => (
        <>
          <Anchor component={Link} to={`/exports/${run.job_id}`} size="sm">
            {format.dateTime(run.created_at)}
          </Anchor>
          <Text size="xs" c="dimmed">
            {t(`runs.triggers.${run.trigger}`)}
          </Text>
        </>
      ),
    },
    {
      key: 'status',
      title: t('runs.status'),
      cell: (run) => <RunState run={run} isKept={scheduled.destination.kind === 'download'} />,
    },
    {
      key: 'rows',
      title: t('runs.rows'),
      hideBelow: 'sm',
      align: 'end',
      cell: (run) => (run.row_count === null ? '–' : format.number(run.row_count)),
    },
    {
      key: 'covers',
      title: t('runs.covers'),
      hideBelow: 'sm',
      cell: (run) =>
        run.covers_until === null
          ? '–'
          : `${run.covers_from === null ? '…' : format.dateTime(run.covers_from)} – ${format.dateTime(run.covers_until)}`,
    },
    {
      key: 'file',
      title: t('runs.file'),
      align: 'end',
      cell: (run) => (
        <DownloadButton jobId={run.job_id} path={run.download_path} size="compact-sm" />
      ),
    },
  ];
  return scheduled.mode === 'full' ? columns.filter(({ key }) => key !== 'covers') : columns;
}

/** The state of a run; files that are kept for download have no other place. */
function RunState({ run, isKept }: { run: Run; isKept: boolean }) {
  const problem = run.error ?? run.delivery.error;
  return (
    <>
      <StatusCell job={run} />
      {!isKept && run.delivery.delivered_to !== null && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {run.delivery.delivered_to}
        </Text>
      )}
      {problem && (
        <Text size="xs" c="var(--mantine-color-error)">
          {problem.message}
        </Text>
      )}
    </>
  );
}
