import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ifMatch } from '@/kit/api/idempotency';
import { ConfirmDialog } from '@/kit/components/ConfirmDialog';
import { refresh } from './refresh';
import type { Details } from './values';

interface Props {
  webhook: Details;
  close: () => void;
}

const paramsOf = (webhook: Details) => ({
  path: { webhook_id: webhook.id },
  header: ifMatch(webhook.revision),
});

export function DeactivateDialog({ webhook, close }: Props) {
  const { t } = useTranslation('delivery/webhooks');
  const deactivate = $api.useMutation('post', '/api/v1/webhooks/{webhook_id}/deactivate');
  const confirm = () =>
    deactivate.mutate(
      { params: paramsOf(webhook), body: {} },
      { onSuccess: close, onSettled: refresh },
    );
  return (
    <ConfirmDialog
      title={t('deactivate')}
      action={t('deactivate')}
      loading={deactivate.isPending}
      error={deactivate.error}
      onConfirm={confirm}
      onClose={close}
    >
      {t('deactivate_text')}
    </ConfirmDialog>
  );
}

export function DeleteDialog({ webhook, close }: Props) {
  const { t } = useTranslation('delivery/webhooks');
  const navigate = useNavigate();
  const remove = $api.useMutation('delete', '/api/v1/webhooks/{webhook_id}');
  const confirm = () =>
    remove.mutate(
      { params: paramsOf(webhook) },
      {
        onSuccess: () => void navigate({ to: '/integrations' }).then(refresh),
      },
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
      {t('delete_text', { url: webhook.url })}
    </ConfirmDialog>
  );
}
