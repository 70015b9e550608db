import { Anchor, Button, Code, Group, Stack } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ApiError } from '@/kit/api/errors';
import { randomKey } from '@/kit/api/idempotency';
import { pollWhile } from '@/kit/api/polling';
import { refreshBelow } from '@/kit/api/queryClient';
import { ConfirmDialog } from '@/kit/components/ConfirmDialog';
import { CopyButton } from '@/kit/components/CopyButton';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Facts } from '@/kit/components/Facts';
import { JobProgress } from '@/kit/components/JobProgress';
import { Loaded } from '@/kit/components/Loaded';
import { Page } from '@/kit/components/Page';
import { Section } from '@/kit/components/Section';
import { useFormat } from '@/kit/i18n/format';
import { useMay } from '@/kit/session/may';
import { DownloadButton } from './DownloadButton';
import { History } from './History';
import { Manifest } from './Manifest';
import { RequestFacts } from './RequestFacts';
import { StatusCell } from './StatusCell';
import { type Export, hasExpired, isPending } from './values';

export function ExportPage() {
  const { t } = useTranslation('delivery/exports');
  const { jobId } = useParams({ from: '/work/exports/$jobId' });
  const query = $api.useQuery(
    'get',
    '/api/v1/exports/{job_id}',
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
      title={t('one')}
      description={
        <>
          <Anchor component={Link} to="/exports" inherit>
            {t('title')}
          </Anchor>
        </>
      }
      actions={job && <Actions job={job} />}
    >
      <Loaded query={query}>{({ data }) => <Details job={data} />}</Loaded>
    </Page>
  );
}

function Details({ job }: { job: Export }) {
  const { t } = useTranslation('delivery/exports');
  const may = useMay();
  return (
    <Stack gap="lg">
      <StatusCell job={job} />
      {isPending(job.status) && <JobProgress progress={job.progress} />}
      {job.error && <ErrorAlert error={new ApiError(0, job.error)} />}
      <FileFacts job={job} />
      <Section title={t('content')}>
        <RequestFacts of={job} />
      </Section>
      {job.status === 'completed' && <Manifest jobId={job.id} />}
      {may('exports:audit') && <History jobId={job.id} />}
    </Stack>
  );
}

function FileFacts({ job }: { job: Export }) {
  const { t } = useTranslation('delivery/exports');
  const format = useFormat();
  return (
    <Facts
      facts={[
        {
          label: t('rows'),
          value: job.row_count === null ? null : format.number(job.row_count),
        },
        {
          label: t('size'),
          value: job.size_bytes === null ? null : format.bytes(job.size_bytes),
        },
        { label: t('created'), value: format.dateTime(job.created_at) },
        {
          label: t('finished'),
          value: job.finished_at && format.dateTime(job.finished_at),
        },
        { label: t('expires'), value: job.expires_at && format.dateTime(job.expires_at) },
        {
          label: 'SHA-256',
          value: job.sha256 && (
            <Group gap={4} wrap="nowrap">
              <Code style={{ overflowWrap: 'anywhere' }}>{job.sha256}</Code>
              <CopyButton value={job.sha256} label={t('copy_checksum')} />
            </Group>
          ),
        },
        {
          label: t('started_by'),
          value: job.scheduled_export_id && (
            <Anchor component={Link} to={`/exports/schedules/${job.scheduled_export_id}`} size="sm">
              {t('by_schedule')}
            </Anchor>
          ),
        },
      ]}
    />
  );
}

function Actions({ job }: { job: Export }) {
  const { t } = useTranslation('delivery/exports');
  const may = useMay();
  const [isCancelling, setCancelling] = useState(false);
  const refresh = () => refreshBelow('/api/v1/exports');
  const cancel = $api.useMutation('post', '/api/v1/exports/{job_id}/cancel');
  const retry = $api.useMutation('post', '/api/v1/exports/{job_id}/retry');
  const path = { job_id: job.id };
  if (!may('exports:create'))
    return <DownloadButton jobId={job.id} path={job.download_path} primary />;
  return (
    <>
      <DownloadButton jobId={job.id} path={job.download_path} primary />
      {isPending(job.status) && (
        <Button variant="default" onClick={() => setCancelling(true)}>
          {t('cancel')}
        </Button>
      )}
      {(job.status === 'failed' || hasExpired(job)) && (
        <Button
          loading={retry.isPending}
          onClick={() =>
            retry.mutate(
              { params: { path, header: { 'Idempotency-Key': randomKey() } } },
              { onSettled: refresh },
            )
          }
        >
          {t('retry')}
        </Button>
      )}
      <ErrorAlert error={retry.error} />
      {isCancelling && (
        <ConfirmDialog
          title={t('cancel')}
          action={t('cancel')}
          loading={cancel.isPending}
          error={cancel.error}
          onConfirm={() =>
            cancel.mutate(
              { params: { path } },
              { onSuccess: () => setCancelling(false), onSettled: refresh },
            )
          }
          onClose={() => setCancelling(false)}
        >
          {t('cancel_text')}
        </ConfirmDialog>
      )}
    </>
  );
}
