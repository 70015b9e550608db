import { Button, Group, NativeSelect, Stack } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Import, Upload } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { pollWhile } from '@/kit/api/polling';
import { Page } from '@/kit/components/Page';
import { useKeys } from '@/kit/keys/keys';
import { EmptyState } from '@/kit/parts/EmptyState';
import { Loaded } from '@/kit/parts/Loaded';
import { Pager } from '@/kit/parts/Pager';
import { useMay } from '@/kit/session/may';
import { JobsTable } from './JobsTable';
import { isPending, JOB_KINDS, STATUSES } from './values';

export function JobsPage() {
  const { t } = useTranslation('intake/ingestion_jobs');
  const may = useMay();
  const navigate = useNavigate();
  const mayImport = may('artifacts:create');
  useKeys(t('title'), [
    {
      keys: 'n',
      text: t('import'),
      run: () => void navigate({ to: '/imports/new' }),
      disabled: !mayImport,
    },
  ]);
  return (
    <Page title={t('title')} description={t('description')} actions={mayImport && <ImportButton />}>
      <List />
    </Page>
  );
}

function ImportButton() {
  const { t } = useTranslation('intake/ingestion_jobs');
  return (
    <Button component={Link} to="/imports/new" leftSection={<Upload size={16} />}>
      {t('import')}
    </Button>
  );
}

function useJobs() {
  const { cursor, status, kind } = useSearch({ from: '/work/imports' });
  return $api.useQuery(
    'get',
    '/api/v1/ingestion-jobs',
    {
      params: {
        query: {
          sort: '-created_at',
          page_size: 25,
          ...(cursor && { cursor }),
          ...(status && { status: [status] }),
          ...(kind && { kind }),
        },
      },
    },
    {
      refetchInterval: (polled) =>
        pollWhile(
          polled,
          polled.state.data?.data.some((job) => isPending(job.status)),
        ),
    },
  );
}

function List() {
  const { t } = useTranslation('intake/ingestion_jobs');
  const may = useMay();
  const { status, kind } = useSearch({ from: '/work/imports' });
  const navigate = useNavigate({ from: '/imports' });
  const filters = { ...(status && { status }), ...(kind && { kind }) };
  return (
    <Loaded query={useJobs()}>
      {({ data, meta }) =>
        meta.total === 0 && Object.keys(filters).length === 0 ? (
          <EmptyState
            icon={Import}
            title={t('empty.title')}
            text={t('empty.text')}
            action={may('artifacts:create') && <ImportButton />}
          />
        ) : (
          <Stack gap="sm">
            <Filters />
            {data.length > 0 && <JobsTable jobs={data} label={t('title')} />}
            <Pager
              meta={meta}
              onCursor={(next) =>
                void navigate({
                  search: { ...filters, ...(next && { cursor: next }) },
                })
              }
            />
          </Stack>
        )
      }
    </Loaded>
  );
}

function Filters() {
  const { t } = useTranslation('intake/ingestion_jobs');
  const { status, kind } = useSearch({ from: '/work/imports' });
  const navigate = useNavigate({ from: '/imports' });
  return (
    <Group gap="xs">
      <NativeSelect
        size="xs"
        aria-label={t('status')}
        value={status ?? ''}
        data={[
          { value: '', label: t('any_status') },
          ...STATUSES.map((one) => ({ value: one, label: t(`statuses.${one}`) })),
        ]}
        onChange={({ currentTarget: { value } }) => {
          const next = STATUSES.find((one) => one === value);
          void navigate({
            search: { ...(kind && { kind }), ...(next && { status: next }) },
          });
        }}
      />
      <NativeSelect
        size="xs"
        aria-label={t('kind')}
        value={kind ?? ''}
        data={[
          { value: '', label: t('any_kind') },
          ...JOB_KINDS.map((one) => ({ value: one, label: t(`kinds.${one}`) })),
        ]}
        onChange={({ currentTarget: { value } }) => {
          const next = JOB_KINDS.find((one) => one === value);
          void navigate({
            search: { ...(status && { status }), ...(next && { kind: next }) },
          });
        }}
      />
    </Group>
  );
}
