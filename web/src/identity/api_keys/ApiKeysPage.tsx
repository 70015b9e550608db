import { Alert, Badge, Button, Group, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { Page } from '@/kit/components/Page';
import { Relative } from '@/kit/components/Relative';
import { StatusBadge } from '@/kit/components/StatusBadge';
import { useKeys } from '@/kit/keys/keys';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { Listing } from '@/kit/lists/Listing';
import { useListSearch } from '@/kit/lists/useListSearch';
import { currentOrganization } from '@/kit/session/organization';
import { useMay } from '@/kit/session/may';
import { CreateKeyDialog } from './CreateKeyDialog';
import { IntegrationTabs } from './IntegrationTabs';
import { RevokeDialog } from './RevokeDialog';

type ApiKey = Schemas['ApiKey'];

const route = getRouteApi('/work/integrations/api-keys');

export function ApiKeysPage() {
  const { t } = useTranslation('identity/api_keys');
  const may = useMay();
  const [creating, setCreating] = useState(false);
  useKeys(t('title'), [{ keys: 'n', text: t('create'), run: () => setCreating(true) }]);
  if (!may('api_keys:manage')) return <NotAllowed />;
  return (
    <Page
      title={t('integrations')}
      actions={
        <Button leftSection={<Plus size={16} />} onClick={() => setCreating(true)}>
          {t('create')}
        </Button>
      }
    >
      <IntegrationTabs />
      <Text size="sm" c="dimmed">
        {t('description')}
      </Text>
      <Keys create={() => setCreating(true)} />
      {creating && <CreateKeyDialog close={() => setCreating(false)} />}
    </Page>
  );
}

function NotAllowed() {
  const { t } = useTranslation('identity/api_keys');
  return (
    <Page title={t('integrations')}>
      <Alert>{t('not_allowed')}</Alert>
    </Page>
  );
}

function Keys({ create }: { create: () => void }) {
  const { t } = useTranslation('identity/api_keys');
  const search = route.useSearch();
  const { page } = useListSearch(search);
  const [revoking, setRevoking] = useState<ApiKey>();
  const columns = useColumns(setRevoking);
  const query = $api.useQuery(
    'get',
    '/api/v1/organizations/{org_slug}/api-keys',
    {
      params: {
        path: { org_slug: currentOrganization() ?? '' },
        query: { ...search, sort: '-created_at', page_size: 50 },
      },
    },
    { placeholderData: keepPreviousData },
  );
  return (
    <>
      <Listing
        query={query}
        cursor={search.cursor}
        onCursor={page}
        empty={{
          icon: KeyRound,
          title: t('empty.title'),
          description: t('empty.text'),
          action: <Button onClick={create}>{t('create')}</Button>,
        }}
      >
        {(rows) => (
          <DataTable label={t('title')} columns={columns} rows={rows} rowKey={(key) => key.id} />
        )}
      </Listing>
      {revoking && <RevokeDialog apiKey={revoking} close={() => setRevoking(undefined)} />}
    </>
  );
}

function useColumns(revoke: (key: ApiKey) => void): Column<ApiKey>[] {
  const { t } = useTranslation('identity/api_keys');
  const { t: tKit } = useTranslation();
  return [
    { key: 'name', title: t('name'), cell: (key) => <Name apiKey={key} /> },
    {
      key: 'role',
      title: t('scope'),
      cell: (key) => (
        <Group gap={4}>
          {tKit(`roles.${key.role}`)}
          {key.read_only && (
            <Badge variant="default" tt="none" fw={500} size="sm">
              {t('read_only')}
            </Badge>
          )}
        </Group>
      ),
    },
    {
      key: 'used',
      title: t('last_used'),
      hideBelow: 'sm',
      cell: (key) =>
        key.last_used_at === null ? t('never') : <Relative value={key.last_used_at} />,
    },
    {
      key: 'expires',
      title: t('expires'),
      hideBelow: 'sm',
      cell: (key) => <Expiry apiKey={key} />,
    },
    {
      key: 'by',
      title: t('created_by'),
      hideBelow: 'sm',
      cell: (key) => <Creator creator={key.created_by} />,
    },
    {
      key: 'revoke',
      title: t('actions'),
      align: 'end',
      cell: (key) => (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={t('revoke_named', { name: key.name })}
          onClick={() => revoke(key)}
        >
          {t('revoke')}
        </Button>
      ),
    },
  ];
}

function Creator({ creator }: { creator: ApiKey['created_by'] }) {
  const { t } = useTranslation('identity/api_keys');
  return (
    <>
      <span dir="auto">{creator.name}</span>
      {!creator.is_member && (
        <Text size="xs" c="dimmed">
          {t('has_left')}
        </Text>
      )}
    </>
  );
}

function Name({ apiKey }: { apiKey: ApiKey }) {
  return (
    <>
      <Text size="sm" fw={500} dir="auto" style={{ overflowWrap: 'anywhere' }}>
        {apiKey.name}
      </Text>
      <Text size="xs" c="dimmed" ff="monospace">
        {apiKey.prefix}…
      </Text>
    </>
  );
}

function Expiry({ apiKey }: { apiKey: ApiKey }) {
  const { t } = useTranslation('identity/api_keys');
  // The page is shown for minutes, not for days.
  const [now] = useState(() => Date.now());
  if (apiKey.expires_at === null) return t('never');
  if (new Date(apiKey.expires_at).getTime() < now)
    return <StatusBadge tone="bad">{t('expired')}</StatusBadge>;
  return <Relative value={apiKey.expires_at} />;
}
