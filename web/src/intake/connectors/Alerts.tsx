import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { Loaded } from '@/kit/components/Loaded';
import { notifyError } from '@/kit/components/notify';
import { useFormat } from '@/kit/i18n/format';
import { useMay } from '@/kit/session/may';
import { refresh } from './refresh';
import type { Connector } from './values';

type ConnectorAlert = Schemas['AlertOfConnector'];

/** The problems of a connector that still exist. */
export function Alerts({ connector }: { connector: Connector }) {
  const alerts = $api.useQuery(
    'get',
    '/api/v1/connectors/{connector_id}/alerts',
    {
      params: {
        path: { connector_id: connector.id },
        query: { open: true, sort: '-created_at', page_size: 20 },
      },
    },
    { enabled: connector.open_alert_count > 0 },
  );
  if (connector.open_alert_count === 0) return null;
  return (
    <Loaded query={alerts}>
      {({ data }) =>
        data.map((alert) => <OpenAlert key={alert.id} connector={connector} alert={alert} />)
      }
    </Loaded>
  );
}

function OpenAlert({ connector, alert }: { connector: Connector; alert: ConnectorAlert }) {
  const { t } = useTranslation('intake/connectors');
  const format = useFormat();
  const may = useMay();
  return (
    <Alert
      color="red"
      variant="light"
      icon={<TriangleAlert size={18} />}
      title={t(`alerts.kinds.${alert.kind}`)}
    >
      <Stack gap="xs">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {alert.message}
        </Text>
        <Text size="xs">{t(`alerts.hints.${alert.kind}`)}</Text>
        <Group gap="sm">
          <Text size="xs">{format.dateTime(alert.at)}</Text>
          {alert.ingestion_job_id !== null && (
            <Anchor component={Link} to={`/imports/${alert.ingestion_job_id}`} size="xs">
              {t('alerts.job')}
            </Anchor>
          )}
          {alert.acknowledged_at !== null && (
            <Text size="xs">
              {t('alerts.acknowledged', {
                time: format.dateTime(alert.acknowledged_at),
              })}
            </Text>
          )}
          {alert.acknowledged_at === null && may('connectors:manage') && (
            <Acknowledge connector={connector} alert={alert} />
          )}
        </Group>
      </Stack>
    </Alert>
  );
}

function Acknowledge({ connector, alert }: { connector: Connector; alert: ConnectorAlert }) {
  const { t } = useTranslation('intake/connectors');
  const acknowledge = $api.useMutation(
    'post',
    '/api/v1/connectors/{connector_id}/alerts/{alert_id}/acknowledge',
  );
  const path = { connector_id: connector.id, alert_id: alert.id };
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={acknowledge.isPending}
      onClick={() =>
        acknowledge.mutate({ params: { path } }, { onError: notifyError, onSettled: refresh })
      }
    >
      {t('alerts.acknowledge')}
    </Button>
  );
}
