import { Anchor, Button, Stack, Text } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { CalendarClock, Plus } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { ExportTabs, FormatName } from '@/delivery/exports';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { Page } from '@/kit/components/Page';
import { useKeys } from '@/kit/keys/keys';
import { EmptyState } from '@/kit/parts/EmptyState';
import { type Column, ListTable } from '@/kit/parts/ListTable';
import { Loaded } from '@/kit/parts/Loaded';
import { Pager } from '@/kit/parts/Pager';
import { Relative } from '@/kit/parts/Relative';
import { StatusBadge } from '@/kit/parts/StatusBadge';
import { useScheduleWords } from '@/kit/schedules/useScheduleWords';
import { useMay } from '@/kit/session/may';
import { RunStatus } from './RunStatus';

type Scheduled = Schemas['ScheduledExport'];

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
      <ExportTabs active="schedules" />
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
  const { cursor } = useSearch({ from: '/work/exports/schedules' });
  const navigate = useNavigate({ from: '/exports/schedules' });
  const columns = useColumns();
  const query = $api.useQuery('get', '/api/v1/exports/scheduled', {
    params: { query: { sort: 'name', page_size: 50, ...(cursor && { cursor }) } },
  });
  return (
    <Loaded query={query}>
      {({ data, meta }) =>
        meta.total === 0 ? (
          <EmptyState
            icon={CalendarClock}
            title={t('empty.title')}
            text={t('empty.text')}
            action={may('scheduled_exports:manage') && <CreateButton />}
          />
        ) : (
          <Stack gap="sm">
            <ListTable label={t('title')} columns={columns} rows={data} rowKey={(one) => one.id} />
            <Pager
              meta={meta}
              onCursor={(next) => void navigate({ search: next ? { cursor: next } : {} })}
            />
          </Stack>
        )
      }
    </Loaded>
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
      wide: true,
      cell: (one) => (one.last_run ? <RunStatus run={one.last_run} /> : t('never')),
    },
    {
      key: 'format',
      title: t('format'),
      wide: true,
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
      wide: true,
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
