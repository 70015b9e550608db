import { Button, Menu } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { Pause, Pencil, Play, Trash2, Zap } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ifMatch, randomKey } from '@/kit/api/idempotency';
import type { Schemas } from '@/kit/api/types';
import { ConfirmDialog } from '@/kit/components/ConfirmDialog';
import { notifyError } from '@/kit/components/notify';
import { MoreMenu } from '@/kit/components/MoreMenu';
import { useMay } from '@/kit/session/may';
import { refresh } from './refresh';

type Scheduled = Schemas['ScheduledExport'];

/** What can be done with a schedule: run it now, pause, edit and delete it. */
export function Actions({ scheduled }: { scheduled: Scheduled }) {
  const { t } = useTranslation('delivery/scheduled_exports');
  const may = useMay();
  const run = $api.useMutation('post', '/api/v1/exports/scheduled/{export_id}/run');
  const start = () =>
    run.mutate(
      {
        params: {
          path: { export_id: scheduled.id },
          header: { 'Idempotency-Key': randomKey() },
        },
      },
      { onSettled: refresh, onError: notifyError },
    );
  return (
    <>
      {may('exports:create') && (
        <Button
          variant="default"
          leftSection={<Zap size={16} />}
          loading={run.isPending}
          onClick={start}
        >
          {t('run_now')}
        </Button>
      )}
      {may('scheduled_exports:manage') && <ManageActions scheduled={scheduled} />}
    </>
  );
}

function ManageActions({ scheduled }: { scheduled: Scheduled }) {
  const { t } = useTranslation('delivery/scheduled_exports');
  const [isDeleting, setDeleting] = useState(false);
  const update = $api.useMutation('patch', '/api/v1/exports/scheduled/{export_id}');
  const params = { path: { export_id: scheduled.id }, header: ifMatch(scheduled.revision) };
  const pause = () =>
    update.mutate(
      { params, body: { paused: !scheduled.paused } },
      { onSettled: refresh, onError: notifyError },
    );
  return (
    <>
      <Button
        variant="default"
        leftSection={scheduled.paused ? <Play size={16} /> : <Pause size={16} />}
        loading={update.isPending}
        onClick={pause}
      >
        {t(scheduled.paused ? 'resume' : 'pause')}
      </Button>
      <MoreMenu>
        <Menu.Item
          component={Link}
          to={`/exports/schedules/${scheduled.id}/edit`}
          leftSection={<Pencil size={16} />}
        >
          {t('edit')}
        </Menu.Item>
        <Menu.Item leftSection={<Trash2 size={16} />} onClick={() => setDeleting(true)}>
          {t('delete')}
        </Menu.Item>
      </MoreMenu>
      {isDeleting && <DeleteDialog scheduled={scheduled} close={() => setDeleting(false)} />}
    </>
  );
}

function DeleteDialog({ scheduled, close }: { scheduled: Scheduled; close: () => void }) {
  const { t } = useTranslation('delivery/scheduled_exports');
  const navigate = useNavigate();
  const remove = $api.useMutation('delete', '/api/v1/exports/scheduled/{export_id}');
  const confirm = () =>
    remove.mutate(
      {
        params: { path: { export_id: scheduled.id }, header: ifMatch(scheduled.revision) },
      },
      { onSuccess: () => void navigate({ to: '/exports/schedules' }).then(refresh) },
    );
  return (
    <ConfirmDialog
      danger
      title={t('delete')}
      action={t('delete')}
      loading={remove.isPending}
      error={remove.error}
      onConfirm={confirm}
      onClose={close}
    >
      {t('delete_text', { name: scheduled.name })}
    </ConfirmDialog>
  );
}
