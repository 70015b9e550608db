import { Alert, Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { Page } from '@/kit/components/Page';
import { useKeys } from '@/kit/keys/keys';
import { EmptyState } from '@/kit/parts/EmptyState';
import { ListTable, type Column } from '@/kit/parts/ListTable';
import { Pager } from '@/kit/parts/Pager';
import { Relative } from '@/kit/parts/Relative';
import { StatusBadge } from '@/kit/parts/StatusBadge';
import { currentOrganization } from '@/kit/session/organization';
import { useMay } from '@/kit/session/may';
import { CreateKeyDialog } from './CreateKeyDialog';
import { IntegrationTabs } from './IntegrationTabs';
import { RevokeDialog } from './RevokeDialog';

type ApiKey = Schemas['ApiKey'];

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
      <IntegrationTabs active="api_keys" />
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
  const { cursor } = useSearch({ from: '/work/integrations/api-keys' });
  const navigate = useNavigate({ from: '/integrations/api-keys' });
  const [revoking, setRevoking] = useState<ApiKey>();
  const columns = useColumns(setRevoking);
  const keys = $api.useQuery('get', '/api/v1/organizations/{org_slug}/api-keys', {
    params: {
      path: { org_slug: currentOrganization() ?? '' },
      query: { sort: '-created_at', page_size: 50, ...(cursor && { cursor }) },
    },
  });
  if (keys.error) return <ErrorAlert error={keys.error} retry={() => void keys.refetch()} />;
  if (!keys.data) return <Loading />;
  const { data, meta } = keys.data;
  if (meta.total === 0)
    return (
      <EmptyState
        icon={KeyRound}
        title={t('empty.title')}
        text={t('empty.text')}
        action={<Button onClick={create}>{t('create')}</Button>}
      />
    );
  return (
    <Stack>
      <ListTable label={t('title')} columns={columns} rows={data} rowKey={(key) => key.id} />
      <Pager
        meta={meta}
        onCursor={(next) => void navigate({ search: next ? { cursor: next } : {} })}
      />
      {revoking && <RevokeDialog apiKey={revoking} close={() => setRevoking(undefined)} />}
    </Stack>
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
      wide: true,
      cell: (key) =>
        key.last_used_at === null ? t('never') : <Relative value={key.last_used_at} />,
    },
    { key: 'expires', title: t('expires'), wide: true, cell: (key) => <Expiry apiKey={key} /> },
    {
      key: 'by',
      title: t('created_by'),
      wide: true,
      cell: (key) => (
        <>
          <span dir="auto">{key.created_by.name}</span>
          {!key.created_by.is_member && (
            <Text size="xs" c="dimmed">
              {t('has_left')}
            </Text>
          )}
        </>
      ),
    },
    {
      key: 'revoke',
      title: t('actions'),
      align: 'right',
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
