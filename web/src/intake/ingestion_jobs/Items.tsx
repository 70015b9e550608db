import { Anchor, NativeSelect, Stack, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { pollWhile } from '@/kit/api/polling';
import { Link } from '@tanstack/react-router';
import { useFormat } from '@/kit/i18n/format';
import { type Column, ListTable } from '@/kit/parts/ListTable';
import { Loaded } from '@/kit/parts/Loaded';
import { Pager } from '@/kit/parts/Pager';
import { Section } from '@/kit/parts/Section';
import { StatusBadge } from '@/kit/parts/StatusBadge';
import { isPending, type Item, ITEM_STATUSES, ITEM_TONES, type Job } from './values';

const ROUTE = '/work/imports/$jobId';

function useItems(job: Job) {
  const { cursor, status } = useSearch({ from: ROUTE });
  return $api.useQuery(
    'get',
    '/api/v1/ingestion-jobs/{job_id}/items',
    {
      params: {
        path: { job_id: job.id },
        query: {
          sort: 'number',
          page_size: 50,
          ...(cursor && { cursor }),
          ...(status && { status }),
        },
      },
    },
    {
      refetchInterval: (polled) => pollWhile(polled, isPending(job.status)),
      // The last read of a running job may be older than its end.
      refetchOnMount: 'always',
    },
  );
}

/** The outcome of each document: what it became, or the reason why not. */
export function Items({ job }: { job: Job }) {
  const { t } = useTranslation('intake/ingestion_jobs');
  const { status } = useSearch({ from: ROUTE });
  const navigate = useNavigate({ from: '/imports/$jobId' });
  const columns = useColumns();
  const query = useItems(job);
  return (
    <Section title={t('items.title')} actions={<StatusFilter />}>
      <Loaded query={query}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t(status ? 'items.none_match' : 'items.none')}
            </Text>
          ) : (
            <Stack gap="sm">
              <ListTable
                label={t('items.title')}
                columns={columns}
                rows={data}
                rowKey={(item) => item.number}
              />
              <Pager
                meta={meta}
                onCursor={(next) =>
                  void navigate({
                    search: {
                      ...(status && { status }),
                      ...(next && { cursor: next }),
                    },
                  })
                }
              />
            </Stack>
          )
        }
      </Loaded>
    </Section>
  );
}

function StatusFilter() {
  const { t } = useTranslation('intake/ingestion_jobs');
  const { status } = useSearch({ from: ROUTE });
  const navigate = useNavigate({ from: '/imports/$jobId' });
  return (
    <NativeSelect
      size="xs"
      aria-label={t('items.status')}
      value={status ?? ''}
      data={[
        { value: '', label: t('items.any') },
        ...ITEM_STATUSES.map((one) => ({ value: one, label: t(`items.statuses.${one}`) })),
      ]}
      onChange={({ currentTarget: { value } }) => {
        const next = ITEM_STATUSES.find((one) => one === value);
        void navigate({ search: next ? { status: next } : {} });
      }}
    />
  );
}

function useColumns(): Column<Item>[] {
  const { t } = useTranslation('intake/ingestion_jobs');
  const format = useFormat();
  return [
    {
      key: 'number',
      title: t('items.number'),
      wide: true,
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
      wide: true,
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
