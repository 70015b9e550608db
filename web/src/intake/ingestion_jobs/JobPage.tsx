import { Anchor, Stack } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ApiError } from '@/kit/api/errors';
import { pollWhile } from '@/kit/api/polling';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Facts } from '@/kit/components/Facts';
import { JobProgress } from '@/kit/components/JobProgress';
import { Loaded } from '@/kit/components/Loaded';
import { Page } from '@/kit/components/Page';
import { useFormat } from '@/kit/i18n/format';
import { Actions } from './Actions';
import { Items } from './Items';
import { JobStatus } from './JobStatus';
import { isPending, type Job } from './values';

export function JobPage() {
  const { t } = useTranslation('intake/ingestion_jobs');
  const { jobId } = useParams({ from: '/work/imports/$jobId' });
  const query = $api.useQuery(
    'get',
    '/api/v1/ingestion-jobs/{job_id}',
    { params: { path: { job_id: jobId } } },
    {
      refetchInterval: (polled) => {
        const status = polled.state.data?.data.status;
        return pollWhile(polled, status && isPending(status));
      },
    },
  );
  const job = query.data?.data;
  return (
    <Page
      title={job?.name ?? t('one')}
      description={
        <Anchor component={Link} to="/imports" inherit>
          {t('title')}
        </Anchor>
      }
      actions={job && <Actions job={job} />}
    >
      <Loaded query={query}>
        {({ data }) => (
          <Stack gap="lg">
            <JobStatus job={data} />
            {isPending(data.status) && <JobProgress progress={data.progress} />}
            {data.error && <ErrorAlert error={new ApiError(0, data.error)} />}
            <JobFacts job={data} />
            <Items job={data} />
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

function JobFacts({ job }: { job: Job }) {
  const { t } = useTranslation('intake/ingestion_jobs');
  const format = useFormat();
  const { counts } = job;
  return (
    <Facts
      cols={4}
      facts={[
        { label: t('counts.created'), value: format.number(counts.created) },
        { label: t('counts.duplicate'), value: format.number(counts.duplicate) },
        { label: t('counts.skipped'), value: format.number(counts.skipped) },
        { label: t('counts.failed'), value: format.number(counts.failed) },
        { label: t('kind'), value: t(`kinds.${job.kind}`) },
        { label: t('format'), value: job.format },
        {
          label: t('size'),
          value: job.size_bytes === null ? null : format.bytes(job.size_bytes),
        },
        {
          label: t('started'),
          value: job.started_at && format.dateTime(job.started_at),
        },
        {
          label: t('finished'),
          value: job.finished_at && format.dateTime(job.finished_at),
        },
        {
          label: t('connector'),
          value: job.connector_id && (
            <Anchor component={Link} to={`/connectors/${job.connector_id}`} size="sm" dir="auto">
              {job.name}
            </Anchor>
          ),
        },
      ]}
    />
  );
}
