import { Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Relative } from '@/kit/components/Relative';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { JobStatus } from './JobStatus';
import type { Job } from './values';

/** Jobs with their state and counts. */
export function JobsTable({ jobs, label }: { jobs: readonly Job[]; label: string }) {
  const columns = useColumns();
  return <DataTable label={label} columns={columns} rows={jobs} rowKey={(job) => job.id} />;
}

function useColumns(): Column<Job>[] {
  const { t } = useTranslation('intake/ingestion_jobs');
  const format = useFormat();
  const count = (key: 'created' | 'duplicate' | 'failed'): Column<Job> => ({
    key,
    title: t(`counts.${key}`),
    align: 'end',
    ...(key !== 'failed' && { hideBelow: 'sm' }),
    cell: ({ counts }) => (
      <Text
        span
        inherit
        fw={key === 'failed' && counts.failed > 0 ? 600 : 400}
        c={counts[key] === 0 ? 'dimmed' : undefined}
      >
        {format.number(counts[key])}
      </Text>
    ),
  });
  return [
    {
      key: 'name',
      title: t('name'),
      cell: (job) => (
        <>
          <Anchor
            component={Link}
            to={`/imports/${job.id}`}
            size="sm"
            fw={500}
            dir="auto"
            display="block"
            miw={90}
            style={{ overflowWrap: 'anywhere' }}
          >
            {job.name}
          </Anchor>
          <Text size="xs" c="dimmed">
            {t(`kinds.${job.kind}`)}
          </Text>
        </>
      ),
    },
    { key: 'status', title: t('status'), cell: (job) => <JobStatus job={job} /> },
    count('created'),
    count('duplicate'),
    count('failed'),
    {
      key: 'at',
      title: t('created'),
      hideBelow: 'sm',
      cell: (job) => <Relative value={job.created_at} />,
    },
  ];
}
