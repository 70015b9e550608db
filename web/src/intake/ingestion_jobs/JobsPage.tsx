import { Button, Group } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Import, Upload } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { pollRows } from '@/kit/api/polling';
import { Page } from '@/kit/components/Page';
import { useKeys } from '@/kit/keys/keys';
import { FilterSelect } from '@/kit/lists/FilterSelect';
import { Listing } from '@/kit/lists/Listing';
import { useListSearch } from '@/kit/lists/useListSearch';
import { useMay } from '@/kit/session/may';
import { JobsTable } from './JobsTable';
import type { JobsSearch } from './routes';
import { isRunning, type Job, JOB_KINDS, STATUSES } from './values';

const route = getRouteApi('/work/imports');

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

function List() {
  const { t } = useTranslation('intake/ingestion_jobs');
  const may = useMay();
  const search: JobsSearch = route.useSearch();
  const { cursor, status, kind } = search;
  const { filter, page } = useListSearch(search);
  const query = $api.useQuery(
    'get',
    '/api/v1/ingestion-jobs',
    {
      params: {
        query: {
          ...{ cursor, kind, sort: '-created_at', page_size: 25 },
          ...(status && { status: [status] }),
        },
      },
    },
    { placeholderData: keepPreviousData, refetchInterval: pollRows<Job>(isRunning) },
  );
  return (
    <Listing
      query={query}
      cursor={cursor}
      onCursor={page}
      isFiltered={(status ?? kind) !== undefined}
      filters={<Filters search={search} onChange={filter} />}
      empty={{
        icon: Import,
        title: t('empty.title'),
        description: t('empty.text'),
        action: may('artifacts:create') && <ImportButton />,
      }}
    >
      {(rows) => <JobsTable jobs={rows} label={t('title')} />}
    </Listing>
  );
}

interface FiltersProps {
  search: JobsSearch;
  onChange: (changes: Partial<JobsSearch>) => void;
}

function Filters({ search, onChange }: FiltersProps) {
  const { t } = useTranslation('intake/ingestion_jobs');
  return (
    <Group gap="xs">
      <FilterSelect
        label={t('status')}
        any={t('any_status')}
        value={search.status}
        choices={STATUSES.map((one) => ({ value: one, label: t(`statuses.${one}`) }))}
        onChange={(status) => onChange({ status })}
      />
      <FilterSelect
        label={t('kind')}
        any={t('any_kind')}
        value={search.kind}
        choices={JOB_KINDS.map((one) => ({ value: one, label: t(`kinds.${one}`) }))}
        onChange={(kind) => onChange({ kind })}
      />
    </Group>
  );
}
