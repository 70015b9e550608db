import { Anchor, Button, Group, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Cable, Plus } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { Page } from '@/kit/components/Page';
import { Relative } from '@/kit/components/Relative';
import { StatusBadge } from '@/kit/components/StatusBadge';
import { useKeys } from '@/kit/keys/keys';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { Listing } from '@/kit/lists/Listing';
import { useListSearch } from '@/kit/lists/useListSearch';
import { useOrganizationTimeZone } from '@/kit/schedules/useOrganizationTimeZone';
import { useScheduleWords } from '@/kit/schedules/useScheduleWords';
import { useMay } from '@/kit/session/may';
import { CrawlBadge } from './CrawlBadge';
import type { Connector } from './values';

const route = getRouteApi('/work/connectors');

export function ConnectorsPage() {
  const { t } = useTranslation('intake/connectors');
  const may = useMay();
  const navigate = useNavigate();
  const mayManage = may('connectors:manage');
  useKeys(t('title'), [
    {
      keys: 'n',
      text: t('create'),
      run: () => void navigate({ to: '/connectors/new' }),
      disabled: !mayManage,
    },
  ]);
  return (
    <Page title={t('title')} description={t('description')} actions={mayManage && <CreateButton />}>
      <List />
    </Page>
  );
}

function CreateButton() {
  const { t } = useTranslation('intake/connectors');
  return (
    <Button component={Link} to="/connectors/new" leftSection={<Plus size={16} />}>
      {t('create')}
    </Button>
  );
}

function List() {
  const { t } = useTranslation('intake/connectors');
  const may = useMay();
  const search = route.useSearch();
  const { page } = useListSearch(search);
  const columns = useColumns();
  const query = $api.useQuery(
    'get',
    '/api/v1/connectors',
    { params: { query: { ...search, sort: 'name', page_size: 50 } } },
    { placeholderData: keepPreviousData },
  );
  return (
    <Listing
      query={query}
      cursor={search.cursor}
      onCursor={page}
      isFiltered={search.type !== undefined}
      empty={{
        icon: Cable,
        title: t('empty.title'),
        description: t('empty.text'),
        action: may('connectors:manage') && <CreateButton />,
      }}
    >
      {(rows) => (
        <DataTable label={t('title')} columns={columns} rows={rows} rowKey={(one) => one.id} />
      )}
    </Listing>
  );
}

function Name({ connector }: { connector: Connector }) {
  const { t } = useTranslation('intake/connectors');
  return (
    <>
      <Anchor component={Link} to={`/connectors/${connector.id}`} size="sm" fw={500} dir="auto">
        {connector.name}
      </Anchor>
      <Text size="xs" c="dimmed">
        {t(`types.${connector.type}`)}
      </Text>
    </>
  );
}

function State({ connector }: { connector: Connector }) {
  const { t } = useTranslation('intake/connectors');
  const { open_alert_count: count } = connector;
  return (
    <Group gap={6}>
      {count > 0 && <StatusBadge tone="bad">{t('alerts.count', { count })}</StatusBadge>}
      {!connector.enabled && <StatusBadge tone="neutral">{t('disabled')}</StatusBadge>}
      {count === 0 && connector.enabled && <StatusBadge tone="good">{t('ok')}</StatusBadge>}
    </Group>
  );
}

function useColumns(): Column<Connector>[] {
  const { t } = useTranslation('intake/connectors');
  const words = useScheduleWords();
  const timeZone = useOrganizationTimeZone();
  return [
    { key: 'name', title: t('name'), cell: (one) => <Name connector={one} /> },
    { key: 'state', title: t('state'), cell: (one) => <State connector={one} /> },
    {
      key: 'last',
      title: t('last_crawl'),
      hideBelow: 'sm',
      cell: (one) => (one.last_crawl ? <CrawlBadge crawl={one.last_crawl} /> : t('never')),
    },
    {
      key: 'schedule',
      title: t('schedule'),
      hideBelow: 'sm',
      cell: (one) => (one.schedule === null ? t('on_request') : words(one.schedule, timeZone)),
    },
    {
      key: 'next',
      title: t('next_crawl'),
      hideBelow: 'sm',
      cell: (one) => <Relative value={one.next_crawl_at} />,
    },
  ];
}
