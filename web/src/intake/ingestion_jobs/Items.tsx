import { Anchor, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { pollWhile } from '@/kit/api/polling';
import { Section } from '@/kit/components/Section';
import { StatusBadge } from '@/kit/components/StatusBadge';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { FilterSelect } from '@/kit/lists/FilterSelect';
import { Listing } from '@/kit/lists/Listing';
import { useListSearch } from '@/kit/lists/useListSearch';
import type { JobSearch } from './routes';
import { isPending, type Item, ITEM_STATUSES, ITEM_TONES, type Job } from './values';

const route = getRouteApi('/work/imports/$jobId');

function useItems(job: Job, { cursor, status }: JobSearch) {
  return $api.useQuery(
    'get',
    '/api/v1/ingestion-jobs/{job_id}/items',
    {
      params: {
        path: { job_id: job.id },
        query: { cursor, status, sort: 'number', page_size: 50 },
      },
    },
    {
      placeholderData: keepPreviousData,
      refetchInterval: (polled) => pollWhile(polled, isPending(job.status)),
      // The last read of a running job may be older than its end.
      refetchOnMount: 'always',
    },
  );
}

/** The outcome of each document: what it became, or the reason why not. */
export function Items({ job }: { job: Job }) {
  const { t } = useTranslation('intake/ingestion_jobs');
  const search: JobSearch = route.useSearch();
  const { filter, page } = useListSearch(search);
  const columns = useColumns();
  return (
    <Section
      title={t('items.title')}
      actions={
        <FilterSelect
          label={t('items.status')}
          any={t('items.any')}
          value={search.status}
          choices={ITEM_STATUSES.map((one) => ({ value: one, label: t(`items.statuses.${one}`) }))}
          onChange={(status) => filter({ status })}
        />
      }
    >
      <Listing
        query={useItems(job, search)}
        cursor={search.cursor}
        onCursor={page}
        isFiltered={search.status !== undefined}
        empty={{ title: t('items.none') }}
      >
        {(rows) => (
          <DataTable
            label={t('items.title')}
            columns={columns}
            rows={rows}
            rowKey={(item) => item.number}
          />
        )}
      </Listing>
    </Section>
  );
}

function useColumns(): Column<Item>[] {
  const { t } = useTranslation('intake/ingestion_jobs');
  const format = useFormat();
  return [
    {
      key: 'number',
      title: t('items.number'),
      hideBelow: 'sm',
      cell: (item) => format.number(item.number),
    },
    {
      key: 'uri',
      title: t('items.source'),
      cell: (item) => (
        <>
          <Text size="sm" dir="auto" style={{ overflowWrap: 'anywhere' }}>
            {item.uri}
          </Text>
          {item.error && (
            <Text size="xs" c="var(--mantine-color-error)">
              {item.error.message}
            </Text>
          )}
        </>
      ),
    },
    {
      key: 'status',
      title: t('items.status'),
      cell: (item) => (
        <StatusBadge tone={ITEM_TONES[item.status]}>
          {t(`items.statuses.${item.status}`)}
        </StatusBadge>
      ),
    },
    {
      key: 'document',
      title: t('items.document'),
      hideBelow: 'sm',
      cell: (item) =>
        item.artifact_id === null ? (
          '–'
        ) : (
          <Anchor component={Link} to={`/documents/${item.artifact_id}`} size="sm">
            {t('items.open')}
          </Anchor>
        ),
    },
  ];
}
