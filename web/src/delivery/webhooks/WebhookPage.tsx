import { Alert, Anchor, Stack, Text } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { pollWhile } from '@/kit/api/polling';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Facts } from '@/kit/components/Facts';
import { Loading } from '@/kit/components/Loading';
import { Page } from '@/kit/components/Page';
import { Relative } from '@/kit/components/Relative';
import { useFormat } from '@/kit/i18n/format';
import { useMay } from '@/kit/session/may';
import { Actions } from './Actions';
import { HealthBadge, LastDay } from './columns';
import { Deliveries } from './Deliveries';
import { ReplayProgress } from './ReplayProgress';
import { Reactivation } from './Reactivation';
import { type Details, isMoving } from './values';

export function WebhookPage() {
  const { t } = useTranslation('delivery/webhooks');
  const may = useMay();
  const { webhookId } = useParams({ from: '/work/integrations/webhooks/$webhookId' });
  const query = $api.useQuery(
    'get',
    '/api/v1/webhooks/{webhook_id}',
    { params: { path: { webhook_id: webhookId } } },
    {
      refetchInterval: (polled) => {
        const webhook = polled.state.data?.data;
        return pollWhile(polled, webhook && isMoving(webhook));
      },
    },
  );
  if (!may('webhooks:manage'))
    return (
      <Page title={t('webhook')}>
        <Alert>{t('not_allowed')}</Alert>
      </Page>
    );
  const problem = <ErrorAlert error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return query.error ? <Page title={t('webhook')}>{problem}</Page> : <Loading />;
  const webhook = query.data.data;
  return (
    <Page
      title={t('webhook')}
      description={
        <>
          <Anchor component={Link} to="/integrations" inherit>
            {t('integrations')}
          </Anchor>{' '}
          <HealthBadge webhook={webhook} />
        </>
      }
      actions={<Actions webhook={webhook} />}
    >
      <Stack gap="lg">
        {problem}
        <Text ff="monospace" size="sm" style={{ overflowWrap: 'anywhere' }}>
          {webhook.url}
        </Text>
        {!webhook.active && <Reactivation webhook={webhook} />}
        <Overview webhook={webhook} />
        {webhook.replay && <ReplayProgress replay={webhook.replay} />}
        <Deliveries webhook={webhook} />
      </Stack>
    </Page>
  );
}

function Overview({ webhook }: { webhook: Details }) {
  const { t } = useTranslation('delivery/webhooks');
  const format = useFormat();
  const previous = webhook.previous_secret_expires_at;
  return (
    <Facts
      facts={[
        { label: t('events'), value: <code>{webhook.events.join(', ')}</code> },
        { label: t('day.title'), value: <LastDay webhook={webhook} /> },
        {
          label: t('last_attempt'),
          value: (
            <>
              <Relative value={webhook.last_triggered_at} /> {webhook.last_status_code}
            </>
          ),
        },
        { label: t('failures'), value: format.number(webhook.consecutive_failures) },
        {
          label: t('missed'),
          value:
            webhook.missed_count > 0 && webhook.replayable_until
              ? t('missed_until', {
                  count: webhook.missed_count,
                  until: format.dateTime(webhook.replayable_until),
                })
              : format.number(webhook.missed_count),
        },
        { label: t('note'), value: webhook.description || null },
        {
          label: t('previous_secret'),
          value: previous && t('until', { time: format.dateTime(previous) }),
        },
      ]}
    />
  );
}
