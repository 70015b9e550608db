import { Anchor, Stack, Text } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { DownloadButton, StatusCell } from '@/delivery/exports';
import { $api } from '@/kit/api/client';
import { pollWhile } from '@/kit/api/polling';
import type { Schemas } from '@/kit/api/types';
import { useFormat } from '@/kit/i18n/format';
import { type Column, ListTable } from '@/kit/parts/ListTable';
import { Loaded } from '@/kit/parts/Loaded';
import { Pager } from '@/kit/parts/Pager';
import { Section } from '@/kit/parts/Section';

type Run = Schemas['ScheduledExportRun'];

const ENDED: Run['status'][] = ['completed', 'failed', 'cancelled'];

/** The runs of a schedule, each with its file and where it was delivered. */
export function Runs({ scheduled }: { scheduled: Schemas['ScheduledExport'] }) {
  const { t } = useTranslation('delivery/scheduled_exports');
  const { cursor } = useSearch({ from: '/work/exports/schedules/$scheduleId' });
  const navigate = useNavigate({ from: '/exports/schedules/$scheduleId' });
  const columns = useColumns(scheduled);
  const query = $api.useQuery(
    'get',
    '/api/v1/exports/scheduled/{export_id}/runs',
    {
      params: {
        path: { export_id: scheduled.id },
        query: { sort: '-created_at', page_size: 25, ...(cursor && { cursor }) },
      },
    },
    {
      refetchInterval: (polled) =>
        pollWhile(
          polled,
          polled.state.data?.data.some(({ status }) => !ENDED.includes(status)),
        ),
    },
  );
  return (
    <Section title={t('runs.title')}>
      <Loaded query={query}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t('runs.none')}
            </Text>
          ) : (
            <Stack gap="sm">
              <ListTable
                label={t('runs.title')}
                columns={columns}
                rows={data}
                rowKey={(one) => one.id}
              />
              <Pager
                meta={meta}
                onCursor={(next) => void navigate({ search: next ? { cursor: next } : {} })}
              />
            </Stack>
          )
        }
      </Loaded>
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
      wide: true,
      align: 'right',
      cell: (run) => (run.row_count === null ? '–' : format.number(run.row_count)),
    },
    {
      key: 'covers',
      title: t('runs.covers'),
      wide: true,
      cell: (run) =>
        run.covers_until === null
          ? '–'
          : `${run.covers_from === null ? '…' : format.dateTime(run.covers_from)} – ${format.dateTime(run.covers_until)}`,
    },
    {
      key: 'file',
      title: t('runs.file'),
      align: 'right',
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
