import { Anchor, Code, Group, Stack } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { pollWhile } from '@/kit/api/polling';
import { Facts } from '@/kit/components/Facts';
import { Loaded } from '@/kit/components/Loaded';
import { Page } from '@/kit/components/Page';
import { Relative } from '@/kit/components/Relative';
import { StatusBadge } from '@/kit/components/StatusBadge';
import { useOrganizationTimeZone } from '@/kit/schedules/useOrganizationTimeZone';
import { useScheduleWords } from '@/kit/schedules/useScheduleWords';
import { useMay } from '@/kit/session/may';
import { SchemaName } from '@/schemas/artifact_schemas';
import { Actions } from './Actions';
import { Alerts } from './Alerts';
import { Browser } from './Browser';
import { CrawlBadge } from './CrawlBadge';
import { Crawls } from './Crawls';
import type { Connector } from './values';

export function ConnectorPage() {
  const { t } = useTranslation('intake/connectors');
  const may = useMay();
  const { connectorId } = useParams({ from: '/work/connectors/$connectorId' });
  const query = $api.useQuery(
    'get',
    '/api/v1/connectors/{connector_id}',
    { params: { path: { connector_id: connectorId } } },
    {
      refetchInterval: (polled) => {
        const status = polled.state.data?.data.last_crawl?.status;
        return pollWhile(polled, status === 'queued' || status === 'running');
      },
    },
  );
  const connector = query.data?.data;
  return (
    <Page
      title={connector?.name ?? t('one')}
      description={
        <Anchor component={Link} to="/connectors" inherit>
          {t('title')}
        </Anchor>
      }
      actions={connector && may('connectors:manage') && <Actions connector={connector} />}
    >
      <Loaded query={query}>
        {({ data }) => (
          <Stack gap="lg">
            <Alerts connector={data} />
            <Overview connector={data} />
            <Crawls connector={data} />
            {may('connectors:manage') && <Browser connector={data} />}
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

function Overview({ connector }: { connector: Connector }) {
  const { t } = useTranslation('intake/connectors');
  const words = useScheduleWords();
  const timeZone = useOrganizationTimeZone();
  const { settings } = connector;
  const shown = Object.entries(settings).map(([name, value]) => `${name}: ${String(value)}`);
  const patterns = (list: readonly string[]) =>
    list.length === 0 ? null : (
      <Group gap={4}>
        {list.map((one) => (
          <Code key={one}>{one}</Code>
        ))}
      </Group>
    );
  return (
    <Facts
      facts={[
        { label: t('type'), value: t(`types.${connector.type}`) },
        {
          label: t('state'),
          value: connector.enabled ? null : (
            <StatusBadge tone="neutral">{t('disabled')}</StatusBadge>
          ),
        },
        { label: t('settings'), value: shown.join(', ') || null },
        {
          label: t('stored_secrets'),
          value: connector.stored_secrets.join(', ') || null,
        },
        { label: t('include'), value: patterns(connector.include) },
        { label: t('exclude'), value: patterns(connector.exclude) },
        {
          label: t('schema'),
          value: connector.schema_id && <SchemaName schemaId={connector.schema_id} />,
        },
        {
          label: t('schedule'),
          value:
            connector.schedule === null ? t('on_request') : words(connector.schedule, timeZone),
        },
        {
          label: t('next_crawl'),
          value: connector.next_crawl_at && <Relative value={connector.next_crawl_at} />,
        },
        {
          label: t('last_crawl'),
          value: connector.last_crawl ? <CrawlBadge crawl={connector.last_crawl} /> : t('never'),
        },
      ]}
    />
  );
}
