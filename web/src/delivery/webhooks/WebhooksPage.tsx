import { Alert, Button, Group, SegmentedControl, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Plus, Webhook as WebhookIcon } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IntegrationTabs } from '@/identity/api_keys';
import { $api } from '@/kit/api/client';
import { Page } from '@/kit/components/Page';
import { useKeys } from '@/kit/keys/keys';
import { DataTable } from '@/kit/lists/DataTable';
import { Listing } from '@/kit/lists/Listing';
import { useListSearch } from '@/kit/lists/useListSearch';
import { useMay } from '@/kit/session/may';
import { CreateDialog } from './CreateDialog';
import { STATES } from './values';
import { useWebhookColumns } from './columns';

const route = getRouteApi('/work/integrations');
type State = (typeof STATES)[number];

export function WebhooksPage() {
  const { t } = useTranslation('delivery/webhooks');
  const may = useMay();
  const [creating, setCreating] = useState(false);
  const open = () => setCreating(true);
  useKeys(t('title'), [{ keys: 'n', text: t('create'), run: open }]);
  if (!may('webhooks:manage'))
    return (
      <Page title={t('integrations')}>
        <Alert>{t('not_allowed')}</Alert>
      </Page>
    );
  return (
    <Page
      title={t('integrations')}
      actions={
        <Button leftSection={<Plus size={16} />} onClick={open}>
          {t('create')}
        </Button>
      }
    >
      <IntegrationTabs />
      <List create={open} />
      {creating && <CreateDialog close={() => setCreating(false)} />}
    </Page>
  );
}

function List({ create }: { create: () => void }) {
  const { t } = useTranslation('delivery/webhooks');
  const search = route.useSearch();
  const { cursor, state } = search;
  const { filter, page } = useListSearch(search);
  const columns = useWebhookColumns();
  const query = $api.useQuery(
    'get',
    '/api/v1/webhooks',
    {
      params: {
        query: {
          ...{ cursor, sort: '-created_at', page_size: 50 },
          ...(state && { active: state === 'active' }),
        },
      },
    },
    { placeholderData: keepPreviousData },
  );
  return (
    <Listing
      query={query}
      cursor={cursor}
      onCursor={page}
      isFiltered={state !== undefined}
      filters={<StateFilter state={state} onChange={(next) => filter({ state: next })} />}
      empty={{
        icon: WebhookIcon,
        title: t('empty.title'),
        description: t('empty.text'),
        action: <Button onClick={create}>{t('create')}</Button>,
      }}
    >
      {(rows) => (
        <DataTable label={t('title')} columns={columns} rows={rows} rowKey={({ id }) => id} />
      )}
    </Listing>
  );
}

interface StateFilterProps {
  state: State | undefined;
  onChange: (state: State | undefined) => void;
}

function StateFilter({ state, onChange }: StateFilterProps) {
  const { t } = useTranslation('delivery/webhooks');
  return (
    <Group justify="space-between" gap="xs">
      <Text size="sm" c="dimmed">
        {t('description')}
      </Text>
      <SegmentedControl
        size="xs"
        aria-label={t('state')}
        data={[
          { value: '', label: t('states.all') },
          ...STATES.map((one) => ({ value: one, label: t(`states.${one}`) })),
        ]}
        value={state ?? ''}
        onChange={(value) => onChange(STATES.find((one) => one === value))}
      />
    </Group>
  );
}
