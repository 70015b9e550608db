import { Anchor, Group, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { pollRows } from '@/kit/api/polling';
import { Section } from '@/kit/components/Section';
import { StatusBadge } from '@/kit/components/StatusBadge';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { FilterSelect } from '@/kit/lists/FilterSelect';
import { Listing } from '@/kit/lists/Listing';
import { useListSearch } from '@/kit/lists/useListSearch';
import { DeliveryDrawer } from './DeliveryDrawer';
import type { WebhookSearch } from './routes';
import {
  type Delivery,
  DELIVERY_EVENTS,
  DELIVERY_STATUSES,
  DELIVERY_TONES,
  type Details,
} from './values';

const route = getRouteApi('/work/integrations/webhooks/$webhookId');

const isWaiting = ({ status }: Delivery) => status === 'pending';

/** The deliveries of a webhook; one of them is open if the address names it. */
export function Deliveries({ webhook }: { webhook: Details }) {
  const { t } = useTranslation('delivery/webhooks');
  const search: WebhookSearch = route.useSearch();
  const { cursor, status, event } = search;
  const navigate = route.useNavigate();
  const { filter, page } = useListSearch(search);
  const open = (delivery: string | undefined) => void navigate({ search: { ...search, delivery } });
  const columns = useColumns(open);
  const query = $api.useQuery(
    'get',
    '/api/v1/webhooks/{webhook_id}/deliveries',
    {
      params: {
        path: { webhook_id: webhook.id },
        query: { cursor, status, event, sort: '-created_at', page_size: 25 },
      },
    },
    { placeholderData: keepPreviousData, refetchInterval: pollRows<Delivery>(isWaiting) },
  );
  return (
    <Section title={t('deliveries.title')} actions={<Filters search={search} onChange={filter} />}>
      <Listing
        query={query}
        cursor={cursor}
        onCursor={page}
        isFiltered={(status ?? event) !== undefined}
        empty={{ title: t('deliveries.none') }}
      >
        {(rows) => (
          <DataTable
            label={t('deliveries.title')}
            columns={columns}
            rows={rows}
            rowKey={({ id }) => id}
          />
        )}
      </Listing>
      <DeliveryDrawer
        webhook={webhook}
        deliveryId={search.delivery}
        close={() => open(undefined)}
      />
    </Section>
  );
}

interface FiltersProps {
  search: WebhookSearch;
  onChange: (changes: Partial<WebhookSearch>) => void;
}

function Filters({ search, onChange }: FiltersProps) {
  const { t } = useTranslation('delivery/webhooks');
  return (
    <Group gap="xs">
      <FilterSelect
        label={t('deliveries.status')}
        any={t('deliveries.any_status')}
        value={search.status}
        choices={DELIVERY_STATUSES.map((one) => ({ value: one, label: t(`statuses.${one}`) }))}
        onChange={(status) => onChange({ status })}
      />
      <FilterSelect
        label={t('deliveries.event')}
        any={t('deliveries.any_event')}
        value={search.event}
        choices={DELIVERY_EVENTS.map((one) => ({ value: one, label: one }))}
        onChange={(event) => onChange({ event })}
      />
    </Group>
  );
}

function useColumns(open: (id: string) => void): Column<Delivery>[] {
  const { t } = useTranslation('delivery/webhooks');
  const format = useFormat();
  return [
    {
      key: 'event',
      title: t('deliveries.event'),
      cell: (one) => (
        <Anchor
          component="button"
          type="button"
          ff="monospace"
          size="xs"
          onClick={() => open(one.id)}
        >
          {one.event}
        </Anchor>
      ),
    },
    {
      key: 'status',
      title: t('deliveries.status'),
      cell: (one) => (
        <StatusBadge tone={DELIVERY_TONES[one.status]}>{t(`statuses.${one.status}`)}</StatusBadge>
      ),
    },
    {
      key: 'attempts',
      title: t('deliveries.attempts'),
      hideBelow: 'sm',
      cell: (one) => <LastAttempt delivery={one} />,
    },
    {
      key: 'created',
      title: t('deliveries.created'),
      hideBelow: 'sm',
      cell: (one) => format.dateTime(one.created_at),
    },
  ];
}

function LastAttempt({ delivery }: { delivery: Delivery }) {
  const { t } = useTranslation('delivery/webhooks');
  const format = useFormat();
  const last = delivery.attempts.at(-1);
  if (!last) return '–';
  return (
    <>
      {t('deliveries.count', { count: delivery.attempts.length })}
      <Text size="xs" c="dimmed">
        {last.status_code ?? last.error} · {format.number(last.duration_ms)} ms
      </Text>
    </>
  );
}
