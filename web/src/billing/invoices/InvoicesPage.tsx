import { Group, Select, Stack } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ReceiptText } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { BillingPage } from '@/billing/plan';
import { $api } from '@/kit/api/client';
import { Listing } from '@/kit/lists/Listing';
import { useListSearch } from '@/kit/lists/useListSearch';
import { InvoicesTable } from './InvoicesTable';
import { KINDS, STATUSES } from './kinds';
import type { InvoicesSearch } from './routes';
import { UpcomingPanel } from './UpcomingPanel';

const route = getRouteApi('/work/billing/invoices');

export function InvoicesPage() {
  const { t } = useTranslation('billing/invoices');
  const search: InvoicesSearch = route.useSearch();
  const { filter, page, isFiltered } = useListSearch(search);
  const query = $api.useQuery(
    'get',
    '/api/v1/billing/invoices',
    { params: { query: { ...search, sort: '-created_at', page_size: 50 } } },
    { placeholderData: keepPreviousData },
  );
  return (
    <BillingPage>
      <UpcomingPanel />
      <Stack>
        <Group gap="sm">
          <Select
            aria-label={t('filter_status')}
            placeholder={t('filter_status')}
            w={150}
            clearable
            value={search.status ?? null}
            data={STATUSES.map((value) => ({ value, label: t(`status.${value}`) }))}
            onChange={(next) => filter({ status: STATUSES.find((s) => s === next) })}
          />
          <Select
            aria-label={t('filter_kind')}
            placeholder={t('filter_kind')}
            w={150}
            clearable
            value={search.kind ?? null}
            data={KINDS.map((value) => ({ value, label: t(`kinds.${value}`) }))}
            onChange={(next) => filter({ kind: KINDS.find((kind) => kind === next) })}
          />
        </Group>
        <Listing
          query={query}
          cursor={search.cursor}
          onCursor={page}
          isFiltered={isFiltered}
          empty={{
            title: t('empty.title'),
            description: t('empty.text'),
            icon: ReceiptText,
          }}
        >
          {(rows) => <InvoicesTable invoices={rows} />}
        </Listing>
      </Stack>
    </BillingPage>
  );
}
