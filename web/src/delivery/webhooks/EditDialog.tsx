import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ifMatch } from '@/kit/api/idempotency';
import { Dialog } from '@/kit/components/Dialog';
import { EditedRecord } from '@/kit/forms/EditedRecord';
import { refresh } from './refresh';
import type { Details } from './values';
import { WebhookForm } from './WebhookForm';

interface Props {
  webhook: Details;
  close: () => void;
}

export function EditDialog({ webhook: latest, close }: Props) {
  const { t } = useTranslation('delivery/webhooks');
  const update = $api.useMutation('patch', '/api/v1/webhooks/{webhook_id}');
  return (
    <Dialog onClose={close} size="xl" title={t('edit')}>
      <EditedRecord latest={latest}>
        {(webhook) => (
          <WebhookForm
            webhook={webhook}
            submitText={t('save')}
            pending={update.isPending}
            error={update.error}
            onSubmit={(body) =>
              update.mutate(
                {
                  params: {
                    path: { webhook_id: webhook.id },
                    header: ifMatch(webhook.revision),
                  },
                  body,
                },
                { onSuccess: close, onSettled: refresh },
              )
            }
          />
        )}
      </EditedRecord>
    </Dialog>
  );
}
