import { Alert, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Plus, Webhook as WebhookIcon } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IntegrationTabs } from '@/identity/api_keys';
import { $api } from '@/kit/api/client';
import { Page } from '@/kit/components/Page';
import { useKeys } from '@/kit/keys/keys';
import { EmptyState } from '@/kit/parts/EmptyState';
import { ListTable } from '@/kit/parts/ListTable';
import { Loaded } from '@/kit/parts/Loaded';
import { Pager } from '@/kit/parts/Pager';
import { useMay } from '@/kit/session/may';
import { CreateDialog } from './CreateDialog';
import { STATES } from './values';
import { useWebhookColumns } from './columns';

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
      <IntegrationTabs active="webhooks" />
      <List create={open} />
      {creating && <CreateDialog close={() => setCreating(false)} />}
    </Page>
  );
}

function useWebhooks() {
  const { cursor, state } = useSearch({ from: '/work/integrations' });
  return $api.useQuery('get', '/api/v1/webhooks', {
    params: {
      query: {
        sort: '-created_at',
        page_size: 50,
        ...(cursor && { cursor }),
        ...(state && { active: state === 'active' }),
      },
    },
  });
}

function List({ create }: { create: () => void }) {
  const { t } = useTranslation('delivery/webhooks');
  const { state } = useSearch({ from: '/work/integrations' });
  const navigate = useNavigate({ from: '/integrations' });
  const columns = useWebhookColumns();
  return (
    <Loaded query={useWebhooks()}>
      {({ data, meta }) =>
        meta.total === 0 && state === undefined ? (
          <EmptyState
            icon={WebhookIcon}
            title={t('empty.title')}
            text={t('empty.text')}
            action={<Button onClick={create}>{t('create')}</Button>}
          />
        ) : (
          <Stack>
            <StateFilter />
            {data.length > 0 && (
              <ListTable
                label={t('title')}
                columns={columns}
                rows={data}
                rowKey={(webhook) => webhook.id}
              />
            )}
            <Pager
              meta={meta}
              onCursor={(next) =>
                void navigate({
                  search: {
                    ...(state && { state }),
                    ...(next && { cursor: next }),
                  },
                })
              }
            />
          </Stack>
        )
      }
    </Loaded>
  );
}

function StateFilter() {
  const { t } = useTranslation('delivery/webhooks');
  const { state } = useSearch({ from: '/work/integrations' });
  const navigate = useNavigate({ from: '/integrations' });
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
        onChange={(value) => {
          const next = STATES.find((one) => one === value);
          void navigate({ search: next ? { state: next } : {} });
        }}
      />
    </Group>
  );
}
