import { Anchor, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { pollWhile } from '@/kit/api/polling';
import { useFormat } from '@/kit/i18n/format';
import { type Column, ListTable } from '@/kit/parts/ListTable';
import { Loaded } from '@/kit/parts/Loaded';
import { Pager } from '@/kit/parts/Pager';
import { Section } from '@/kit/parts/Section';
import { StatusBadge } from '@/kit/parts/StatusBadge';
import { DeliveryDrawer } from './DeliveryDrawer';
import {
  type Delivery,
  DELIVERY_EVENTS,
  DELIVERY_STATUSES,
  DELIVERY_TONES,
  type Details,
} from './values';

const ROUTE = '/work/integrations/webhooks/$webhookId';

function useSearchState() {
  const search = useSearch({ from: ROUTE });
  const navigate = useNavigate({ from: '/integrations/webhooks/$webhookId' });
  return { search, set: (next: typeof search) => void navigate({ search: next }) };
}

function useDeliveries(webhookId: string) {
  const { cursor, status, event } = useSearchState().search;
  return $api.useQuery(
    'get',
    '/api/v1/webhooks/{webhook_id}/deliveries',
    {
      params: {
        path: { webhook_id: webhookId },
        query: {
          sort: '-created_at',
          page_size: 25,
          ...(cursor && { cursor }),
          ...(status && { status }),
          ...(event && { event }),
        },
      },
    },
    {
      refetchInterval: (polled) =>
        pollWhile(
          polled,
          polled.state.data?.data.some((one) => one.status === 'pending'),
        ),
    },
  );
}

/** The deliveries of a webhook; one of them is open if the address names it. */
export function Deliveries({ webhook }: { webhook: Details }) {
  const { t } = useTranslation('delivery/webhooks');
  const { search, set } = useSearchState();
  const { status, event } = search;
  const filters = { ...(status && { status }), ...(event && { event }) };
  const columns = useColumns((id) => set({ ...search, delivery: id }));
  const query = useDeliveries(webhook.id);
  return (
    <Section title={t('deliveries.title')} actions={<Filters />}>
      <Loaded query={query}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t(Object.keys(filters).length > 0 ? 'deliveries.none_match' : 'deliveries.none')}
            </Text>
          ) : (
            <Stack gap="sm">
              <ListTable
                label={t('deliveries.title')}
                columns={columns}
                rows={data}
                rowKey={(one) => one.id}
              />
              <Pager
                meta={meta}
                onCursor={(next) => set({ ...filters, ...(next && { cursor: next }) })}
              />
            </Stack>
          )
        }
      </Loaded>
      <DeliveryDrawer
        webhook={webhook}
        deliveryId={search.delivery}
        close={() => {
          const rest = { ...search };
          delete rest.delivery;
          set(rest);
        }}
      />
    </Section>
  );
}

function Filters() {
  const { t } = useTranslation('delivery/webhooks');
  const { search, set } = useSearchState();
  const { status, event } = search;
  return (
    <Group gap="xs">
      <NativeSelect
        size="xs"
        aria-label={t('deliveries.status')}
        value={status ?? ''}
        data={[
          { value: '', label: t('deliveries.any_status') },
          ...DELIVERY_STATUSES.map((one) => ({
            value: one,
            label: t(`statuses.${one}`),
          })),
        ]}
        onChange={({ currentTarget: { value } }) => {
          const next = DELIVERY_STATUSES.find((one) => one === value);
          set({ ...(event && { event }), ...(next && { status: next }) });
        }}
      />
      <NativeSelect
        size="xs"
        aria-label={t('deliveries.event')}
        value={event ?? ''}
        data={[{ value: '', label: t('deliveries.any_event') }, ...DELIVERY_EVENTS]}
        onChange={({ currentTarget: { value } }) => {
          const next = DELIVERY_EVENTS.find((one) => one === value);
          set({ ...(status && { status }), ...(next && { event: next }) });
        }}
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
      wide: true,
      cell: (one) => <LastAttempt delivery={one} />,
    },
    {
      key: 'created',
      title: t('deliveries.created'),
      wide: true,
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
