import { Button, Drawer, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { RotateCw } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { randomKey } from '@/kit/api/idempotency';
import { pollWhile } from '@/kit/api/polling';
import type { Schemas } from '@/kit/api/types';
import { CodeBlock } from '@/kit/components/CodeBlock';
import { NO_BANNER } from '@/kit/components/Dialog';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Facts } from '@/kit/components/Facts';
import { Loading } from '@/kit/components/Loading';
import { StatusBadge } from '@/kit/components/StatusBadge';
import { useFormat } from '@/kit/i18n/format';
import { refresh } from './refresh';
import { type Delivery, DELIVERY_TONES, type Details } from './values';

interface Props {
  webhook: Details;
  deliveryId: string | undefined;
  close: () => void;
}

/** One delivery: what was sent, and what each attempt got back. */
export function DeliveryDrawer({ webhook, deliveryId, close }: Props) {
  const { t } = useTranslation('delivery/webhooks');
  const { t: tKit } = useTranslation();
  return (
    <Drawer
      opened={deliveryId !== undefined}
      onClose={close}
      position="right"
      size="lg"
      title={t('deliveries.one')}
      attributes={NO_BANNER}
      closeButtonProps={{ 'aria-label': tKit('close') }}
    >
      {deliveryId !== undefined && <Content webhook={webhook} deliveryId={deliveryId} />}
    </Drawer>
  );
}

function Content({ webhook, deliveryId }: { webhook: Details; deliveryId: string }) {
  const query = $api.useQuery(
    'get',
    '/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}',
    { params: { path: { webhook_id: webhook.id, delivery_id: deliveryId } } },
    {
      refetchInterval: (polled) => pollWhile(polled, polled.state.data?.data.status === 'pending'),
    },
  );
  if (query.error) return <ErrorAlert error={query.error} />;
  if (!query.data) return <Loading />;
  return <Shown webhook={webhook} delivery={query.data.data} />;
}

function Shown({ webhook, delivery }: { webhook: Details; delivery: Delivery }) {
  const { t } = useTranslation('delivery/webhooks');
  const format = useFormat();
  return (
    <Stack>
      <Group justify="space-between">
        <StatusBadge tone={DELIVERY_TONES[delivery.status]}>
          {t(`statuses.${delivery.status}`)}
        </StatusBadge>
        {webhook.active && delivery.status !== 'pending' && <Redeliver delivery={delivery} />}
      </Group>
      <Facts
        cols={2}
        facts={[
          { label: t('deliveries.event'), value: <code>{delivery.event}</code> },
          { label: t('deliveries.id'), value: <code>{delivery.id}</code> },
          {
            label: t('deliveries.created'),
            value: format.dateTime(delivery.created_at),
          },
          {
            label: t('deliveries.next_attempt'),
            value: delivery.next_attempt_at && format.dateTime(delivery.next_attempt_at),
          },
        ]}
      />
      <CodeBlock label={t('deliveries.request')} code={JSON.stringify(delivery.body, null, 2)} />
      <Title order={3} size="h6">
        {t('deliveries.attempts')}
      </Title>
      {delivery.attempts.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('deliveries.no_attempts')}
        </Text>
      )}
      {delivery.attempts.toReversed().map((attempt) => (
        <Attempt key={`${attempt.at}/${attempt.number}`} attempt={attempt} />
      ))}
    </Stack>
  );
}

function Attempt({ attempt }: { attempt: Schemas['DeliveryAttempt'] }) {
  const { t } = useTranslation('delivery/webhooks');
  const format = useFormat();
  const isGood = attempt.error === null && String(attempt.status_code).startsWith('2');
  return (
    <Paper withBorder p="sm">
      <Stack gap={6}>
        <Group justify="space-between" gap="xs">
          <Text size="sm" fw={500}>
            {t('deliveries.attempt', { number: attempt.number })}
          </Text>
          <StatusBadge tone={isGood ? 'good' : 'bad'}>
            {attempt.status_code ?? t('deliveries.no_response')}
          </StatusBadge>
        </Group>
        <Text size="xs" c="dimmed">
          {format.dateTime(attempt.at)} · {format.number(attempt.duration_ms)} ms
        </Text>
        {attempt.error !== null && <Text size="sm">{attempt.error}</Text>}
        {attempt.response_excerpt !== null && attempt.response_excerpt !== '' && (
          <CodeBlock
            label={t('deliveries.response')}
            code={attempt.response_excerpt}
            maxHeight={160}
          />
        )}
      </Stack>
    </Paper>
  );
}

function Redeliver({ delivery }: { delivery: Delivery }) {
  const { t } = useTranslation('delivery/webhooks');
  const redeliver = $api.useMutation(
    'post',
    '/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver',
  );
  const run = () =>
    redeliver.mutate(
      {
        params: {
          path: { webhook_id: delivery.webhook_id, delivery_id: delivery.id },
          header: { 'Idempotency-Key': randomKey() },
        },
      },
      { onSettled: refresh },
    );
  return (
    <Stack gap="xs" align="flex-end">
      <Button
        size="compact-sm"
        leftSection={<RotateCw size={14} />}
        loading={redeliver.isPending}
        onClick={run}
      >
        {t('deliveries.redeliver')}
      </Button>
      <ErrorAlert error={redeliver.error} />
    </Stack>
  );
}
