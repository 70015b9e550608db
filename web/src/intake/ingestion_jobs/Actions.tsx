import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { RotateCw, Sparkles, X } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { randomKey } from '@/kit/api/idempotency';
import { refreshBelow } from '@/kit/api/queryClient';
import { ConfirmDialog } from '@/kit/components/ConfirmDialog';
import { notifyError } from '@/kit/components/notify';
import { useMay } from '@/kit/session/may';
import { canRetry, isPending, type Job } from './values';

const refresh = () => refreshBelow('/api/v1/ingestion-jobs');

/** Retry, cancel, and predictions for what a job has created. */
export function Actions({ job }: { job: Job }) {
  const may = useMay();
  const mayManage = may('ingestion_jobs:manage');
  const hasDocuments = job.kind !== 'extract' && job.counts.created > 0;
  return (
    <>
      {mayManage && canRetry(job) && <Retry job={job} />}
      {mayManage && isPending(job.status) && <Cancel job={job} />}
      {may('predictions:create') && hasDocuments && !isPending(job.status) && <Extract job={job} />}
    </>
  );
}

function Retry({ job }: { job: Job }) {
  const { t } = useTranslation('intake/ingestion_jobs');
  const retry = $api.useMutation('post', '/api/v1/ingestion-jobs/{job_id}/retry');
  return (
    <Button
      leftSection={<RotateCw size={16} />}
      loading={retry.isPending}
      onClick={() =>
        retry.mutate(
          {
            params: {
              path: { job_id: job.id },
              header: { 'Idempotency-Key': randomKey() },
            },
          },
          { onSettled: refresh, onError: notifyError },
        )
      }
    >
      {t('retry')}
    </Button>
  );
}

function Cancel({ job }: { job: Job }) {
  const { t } = useTranslation('intake/ingestion_jobs');
  const [isOpen, setOpen] = useState(false);
  const cancel = $api.useMutation('post', '/api/v1/ingestion-jobs/{job_id}/cancel');
  return (
    <>
      <Button variant="default" leftSection={<X size={16} />} onClick={() => setOpen(true)}>
        {t('cancel')}
      </Button>
      {isOpen && (
        <ConfirmDialog
          title={t('cancel')}
          action={t('cancel')}
          loading={cancel.isPending}
          error={cancel.error}
          onConfirm={() =>
            cancel.mutate(
              { params: { path: { job_id: job.id } } },
              { onSuccess: () => setOpen(false), onSettled: refresh },
            )
          }
          onClose={() => setOpen(false)}
        >
          {t('cancel_text')}
        </ConfirmDialog>
      )}
    </>
  );
}

function Extract({ job }: { job: Job }) {
  const { t } = useTranslation('intake/ingestion_jobs');
  const navigate = useNavigate();
  const extract = $api.useMutation('post', '/api/v1/ingestion-jobs/{job_id}/extract');
  return (
    <Button
      variant="default"
      leftSection={<Sparkles size={16} />}
      loading={extract.isPending}
      onClick={() =>
        extract.mutate(
          {
            params: {
              path: { job_id: job.id },
              header: { 'Idempotency-Key': randomKey() },
            },
          },
          {
            onSuccess: ({ data }) =>
              void navigate({ to: '/imports/$jobId', params: { jobId: data.id } }),
            onError: notifyError,
          },
        )
      }
    >
      {t('extract')}
    </Button>
  );
}
