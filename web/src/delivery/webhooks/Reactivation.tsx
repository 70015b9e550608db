import { Alert, Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ifMatch } from '@/kit/api/idempotency';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { refresh } from './refresh';
import type { Details } from './values';

/** Says why a webhook is deactivated, and activates it, with what it has missed if wanted. */
export function Reactivation({ webhook }: { webhook: Details }) {
  const { t } = useTranslation('delivery/webhooks');
  const hasMissed = webhook.missed_count > 0;
  const [replay, setReplay] = useState(true);
  const activate = $api.useMutation('post', '/api/v1/webhooks/{webhook_id}/activate');
  const submit = () =>
    activate.mutate(
      {
        params: {
          path: { webhook_id: webhook.id },
          header: ifMatch(webhook.revision),
        },
        body: hasMissed && replay ? { replay: {} } : {},
      },
      { onSettled: refresh },
    );
  return (
    <Alert color="red" variant="light" icon={<TriangleAlert size={18} />} title={t('inactive')}>
      <Stack gap="sm">
        {webhook.disabled_reason !== null && (
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {webhook.disabled_reason}
          </Text>
        )}
        <Text size="sm">{t('inactive_hint')}</Text>
        {hasMissed && (
          <Checkbox
            checked={replay}
            onChange={(event) => setReplay(event.currentTarget.checked)}
            label={t('replay_missed', { count: webhook.missed_count })}
          />
        )}
        <ErrorAlert error={activate.error} />
        <Group>
          <Button loading={activate.isPending} onClick={submit}>
            {t('activate')}
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
