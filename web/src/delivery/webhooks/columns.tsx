import { Anchor, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Relative } from '@/kit/components/Relative';
import { StatusBadge } from '@/kit/components/StatusBadge';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';
import { HEALTH_TONES, type Listed, type Webhook, webhookHealth } from './values';

export function HealthBadge({ webhook }: { webhook: Webhook }) {
  const { t } = useTranslation('delivery/webhooks');
  const health = webhookHealth(webhook);
  return (
    <StatusBadge tone={HEALTH_TONES[health]}>
      {t(`health.${health}`, { count: webhook.consecutive_failures })}
    </StatusBadge>
  );
}

/** The share of deliveries of the last day that arrived, and how many did not. */
export function LastDay({ webhook }: { webhook: Listed }) {
  const { t } = useTranslation('delivery/webhooks');
  const format = useFormat();
  const { success_rate: rate, delivered, failed, pending } = webhook.statistics;
  return (
    <>
      {rate === null ? t('day.none') : t('day.rate', { rate: format.percent(rate) })}
      <Text size="xs" c="dimmed">
        {t('day.counts', {
          delivered: format.number(delivered),
          failed: format.number(failed),
          pending: format.number(pending),
        })}
      </Text>
    </>
  );
}

export function useWebhookColumns(): Column<Listed>[] {
  const { t } = useTranslation('delivery/webhooks');
  return [
    {
      key: 'url',
      title: t('url'),
      cell: (webhook) => (
        <>
          <Anchor
            component={Link}
            to={`/integrations/webhooks/${webhook.id}`}
            size="sm"
            fw={500}
            style={{ overflowWrap: 'anywhere' }}
          >
            {webhook.url}
          </Anchor>
          <Text size="xs" c="dimmed" dir="auto">
            {webhook.description}
          </Text>
        </>
      ),
    },
    { key: 'state', title: t('state'), cell: (webhook) => <HealthBadge webhook={webhook} /> },
    {
      key: 'events',
      title: t('events'),
      hideBelow: 'sm',
      cell: (webhook) => (
        <Text size="xs" ff="monospace" c="dimmed">
          {webhook.events.join(', ')}
        </Text>
      ),
    },
    {
      key: 'day',
      title: t('day.title'),
      hideBelow: 'sm',
      cell: (webhook) => <LastDay webhook={webhook} />,
    },
    {
      key: 'last',
      title: t('last_attempt'),
      hideBelow: 'sm',
      cell: (webhook) => (
        <Group gap={6} wrap="nowrap">
          <Relative value={webhook.last_triggered_at} />
          {webhook.last_status_code !== null && (
            <Text span size="xs" ff="monospace" c="dimmed">
              {webhook.last_status_code}
            </Text>
          )}
        </Group>
      ),
    },
  ];
}
