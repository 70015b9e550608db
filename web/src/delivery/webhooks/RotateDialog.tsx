import { Button, Group, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ifMatch, useIdempotency } from '@/kit/api/idempotency';
import { ConfirmDialog } from '@/kit/components/ConfirmDialog';
import { Dialog } from '@/kit/components/Dialog';
import { SecretOnce } from '@/kit/components/SecretOnce';
import { refresh } from './refresh';
import type { Details } from './values';
import { VerifyProgram } from './VerifyProgram';

/** Issues a new secret after a question, and shows it once. */
export function RotateDialog({ webhook, close }: { webhook: Details; close: () => void }) {
  const { t } = useTranslation('delivery/webhooks');
  const idempotency = useIdempotency();
  const rotate = $api.useMutation('post', '/api/v1/webhooks/{webhook_id}/rotate-secret');
  const confirm = () =>
    rotate.mutate(
      {
        params: {
          path: { webhook_id: webhook.id },
          header: { ...ifMatch(webhook.revision), ...idempotency.headers(webhook.id) },
        },
        body: {},
      },
      { onSettled: refresh },
    );
  if (!rotate.data)
    return (
      <ConfirmDialog
        title={t('rotate')}
        action={t('rotate')}
        loading={rotate.isPending}
        error={rotate.error}
        onConfirm={confirm}
        // The secret is being replaced, and the new one is shown once.
        onClose={() => !rotate.isPending && close()}
      >
        {t('rotate_text')}
      </ConfirmDialog>
    );
  return (
    <Dialog onClose={close} size="xl" title={t('rotate')} firm>
      <Stack>
        <SecretOnce secret={rotate.data.data.secret} label={t('secret')} />
        <VerifyProgram />
        <Group justify="flex-end">
          <Button onClick={close}>{t('secret_stored')}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
