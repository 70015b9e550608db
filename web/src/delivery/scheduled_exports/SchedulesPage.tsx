import { Anchor, Button, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { CalendarClock, Plus } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { ExportTabs, FormatName } from '@/delivery/exports';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { Page } from '@/kit/components/Page';
import { Relative } from '@/kit/components/Relative';
import { StatusBadge } from '@/kit/components/StatusBadge';
import { useKeys } from '@/kit/keys/keys';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { Listing } from '@/kit/lists/Listing';
import { useListSearch } from '@/kit/lists/useListSearch';
import { useScheduleWords } from '@/kit/schedules/useScheduleWords';
import { useMay } from '@/kit/session/may';
import { RunStatus } from './RunStatus';

type Scheduled = Schemas['ScheduledExport'];

const route = getRouteApi('/work/exports/schedules');

export function SchedulesPage() {
  const { t } = useTranslation('delivery/scheduled_exports');
  const may = useMay();
  const navigate = useNavigate();
  const mayManage = may('scheduled_exports:manage');
  useKeys(t('title'), [
    {
      keys: 'n',
      text: t('create'),
      run: () => void navigate({ to: '/exports/schedules/new' }),
      disabled: !mayManage,
    },
  ]);
  return (
    <Page title={t('exports')} actions={mayManage && <CreateButton />}>
      <ExportTabs />
      <List />
    </Page>
  );
}

function CreateButton() {
  const { t } = useTranslation('delivery/scheduled_exports');
  return (
    <Button component={Link} to="/exports/schedules/new" leftSection={<Plus size={16} />}>
      {t('create')}
    </Button>
  );
}

function List() {
  const { t } = useTranslation('delivery/scheduled_exports');
  const may = useMay();
  const search = route.useSearch();
  const { page } = useListSearch(search);
  const columns = useColumns();
  const query = $api.useQuery(
    'get',
    '/api/v1/exports/scheduled',
    { params: { query: { ...search, sort: 'name', page_size: 50 } } },
    { placeholderData: keepPreviousData },
  );
  return (
    <Listing
      query={query}
      cursor={search.cursor}
      onCursor={page}
      empty={{
        icon: CalendarClock,
        title: t('empty.title'),
        description: t('empty.text'),
        action: may('scheduled_exports:manage') && <CreateButton />,
      }}
    >
      {(rows) => (
        <DataTable label={t('title')} columns={columns} rows={rows} rowKey={(one) => one.id} />
      )}
    </Listing>
  );
}

function useColumns(): Column<Scheduled>[] {
  const { t } = useTranslation('delivery/scheduled_exports');
  return [
    {
      key: 'name',
      title: t('name'),
      cell: (one) => <Name scheduled={one} />,
    },
    {
      key: 'next',
      title: t('next_run'),
      cell: (one) =>
        one.paused ? (
          <StatusBadge tone="warning">{t('paused')}</StatusBadge>
        ) : (
          <Relative value={one.next_run_at} />
        ),
    },
    {
      key: 'last',
      title: t('last_run'),
      hideBelow: 'sm',
      cell: (one) => (one.last_run ? <RunStatus run={one.last_run} /> : t('never')),
    },
    {
      key: 'format',
      title: t('format'),
      hideBelow: 'sm',
      cell: (one) => (
        <>
          <FormatName format={one.format} />
          <Text size="xs" c="dimmed">
            {t(`modes.${one.mode}`)}
          </Text>
        </>
      ),
    },
    {
      key: 'destination',
      title: t('destination'),
      hideBelow: 'sm',
      cell: (one) => t(`kinds.${one.destination.kind}`),
    },
  ];
}

function Name({ scheduled }: { scheduled: Scheduled }) {
  const words = useScheduleWords();
  return (
    <>
      <Anchor
        component={Link}
        to={`/exports/schedules/${scheduled.id}`}
        size="sm"
        fw={500}
        dir="auto"
      >
        {scheduled.name}
      </Anchor>
      <Text size="xs" c="dimmed">
        {words(scheduled.cron, scheduled.time_zone)}
      </Text>
    </>
  );
}
