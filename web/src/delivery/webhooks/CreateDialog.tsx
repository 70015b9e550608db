import { Button, Group, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { useIdempotency } from '@/kit/api/idempotency';
import type { Schemas } from '@/kit/api/types';
import { Dialog } from '@/kit/components/Dialog';
import { SecretOnce } from '@/kit/components/SecretOnce';
import { VerifyProgram } from './VerifyProgram';
import { WebhookForm } from './WebhookForm';

type Created = Schemas['WebhookWithSecret'];

/** Creates a webhook, and then shows its secret with the program that verifies. */
export function CreateDialog({ close }: { close: () => void }) {
  const { t } = useTranslation('delivery/webhooks');
  const [created, setCreated] = useState<Created>();
  const client = useQueryClient();
  const idempotency = useIdempotency();
  const create = $api.useMutation('post', '/api/v1/webhooks');
  const submit = (body: Schemas['CreateWebhook']) =>
    create.mutate(
      { params: { header: idempotency.headers(body) }, body },
      {
        onSuccess: ({ data }) => {
          idempotency.done();
          void client.invalidateQueries({ queryKey: ['get', '/api/v1/webhooks'] });
          setCreated(data);
        },
      },
    );
  return (
    <Dialog
      // The secret that is on its way is shown once.
      onClose={() => !create.isPending && close()}
      size="xl"
      title={created ? t('created') : t('create')}
      firm={created !== undefined}
    >
      {created ? (
        <SecretStep created={created} />
      ) : (
        <WebhookForm
          submitText={t('create')}
          pending={create.isPending}
          error={create.error}
          onSubmit={submit}
        />
      )}
    </Dialog>
  );
}

function SecretStep({ created }: { created: Created }) {
  const { t } = useTranslation('delivery/webhooks');
  const navigate = useNavigate();
  return (
    <Stack>
      <SecretOnce secret={created.secret} label={t('secret')} />
      <VerifyProgram />
      <Group justify="flex-end">
        <Button
          onClick={() =>
            void navigate({
              to: '/integrations/webhooks/$webhookId',
              params: { webhookId: created.id },
            })
          }
        >
          {t('secret_stored')}
        </Button>
      </Group>
    </Stack>
  );
}
