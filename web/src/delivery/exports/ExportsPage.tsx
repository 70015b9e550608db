import { Anchor, Button, Group, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { FileDown, Plus } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { pollRows } from '@/kit/api/polling';
import { Page } from '@/kit/components/Page';
import { useFormat } from '@/kit/i18n/format';
import { useKeys } from '@/kit/keys/keys';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { FilterSelect } from '@/kit/lists/FilterSelect';
import { Listing } from '@/kit/lists/Listing';
import { useListSearch } from '@/kit/lists/useListSearch';
import { useMay } from '@/kit/session/may';
import { DownloadButton } from './DownloadButton';
import { ExportTabs } from './ExportTabs';
import { FormatName, useFormats } from './formats';
import type { ExportsSearch } from './routes';
import { StatusCell } from './StatusCell';
import { type Export, isPending, STATUSES } from './values';

const route = getRouteApi('/work/exports');

const isRunning = ({ status }: Export) => isPending(status);

export function ExportsPage() {
  const { t } = useTranslation('delivery/exports');
  const may = useMay();
  const navigate = useNavigate();
  const mayCreate = may('exports:create');
  useKeys(t('title'), [
    {
      keys: 'n',
      text: t('create'),
      run: () => void navigate({ to: '/exports/new' }),
      disabled: !mayCreate,
    },
  ]);
  return (
    <Page title={t('title')} actions={mayCreate && <CreateButton />}>
      <ExportTabs />
      <List />
    </Page>
  );
}

function CreateButton() {
  const { t } = useTranslation('delivery/exports');
  return (
    <Button component={Link} to="/exports/new" leftSection={<Plus size={16} />}>
      {t('create')}
    </Button>
  );
}

function List() {
  const { t } = useTranslation('delivery/exports');
  const may = useMay();
  const search: ExportsSearch = route.useSearch();
  const { filter, page, isFiltered } = useListSearch(search);
  const columns = useColumns();
  const query = $api.useQuery(
    'get',
    '/api/v1/exports',
    { params: { query: { ...search, sort: '-created_at', page_size: 25 } } },
    { placeholderData: keepPreviousData, refetchInterval: pollRows<Export>(isRunning) },
  );
  return (
    <Listing
      query={query}
      cursor={search.cursor}
      onCursor={page}
      isFiltered={isFiltered}
      filters={<Filters search={search} onChange={filter} />}
      empty={{
        icon: FileDown,
        title: t('empty.title'),
        description: t('empty.text'),
        action: may('exports:create') && <CreateButton />,
      }}
    >
      {(rows) => (
        <DataTable label={t('title')} columns={columns} rows={rows} rowKey={(one) => one.id} />
      )}
    </Listing>
  );
}

interface FiltersProps {
  search: ExportsSearch;
  onChange: (changes: Partial<ExportsSearch>) => void;
}

function Filters({ search, onChange }: FiltersProps) {
  const { t } = useTranslation('delivery/exports');
  const formats = useFormats() ?? [];
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
        label={t('format')}
        any={t('any_format')}
        value={search.format}
        choices={formats.map(({ id, name }) => ({ value: id, label: name }))}
        onChange={(format) => onChange({ format })}
      />
    </Group>
  );
}

function useColumns(): Column<Export>[] {
  const { t } = useTranslation('delivery/exports');
  const format = useFormat();
  return [
    {
      key: 'format',
      title: t('format'),
      cell: (one) => (
        <>
          <Anchor component={Link} to={`/exports/${one.id}`} size="sm" fw={500}>
            <FormatName format={one.format} />
          </Anchor>
          <Text size="xs" c="dimmed">
            {format.dateTime(one.created_at)}
          </Text>
        </>
      ),
    },
    { key: 'status', title: t('status'), cell: (one) => <StatusCell job={one} /> },
    {
      key: 'rows',
      title: t('rows'),
      hideBelow: 'sm',
      align: 'end',
      cell: (one) => (one.row_count === null ? '–' : format.number(one.row_count)),
    },
    {
      key: 'size',
      title: t('size'),
      hideBelow: 'sm',
      align: 'end',
      cell: (one) => (one.size_bytes === null ? '–' : format.bytes(one.size_bytes)),
    },
    {
      key: 'from',
      title: t('started_by'),
      hideBelow: 'sm',
      cell: (one) => t(one.scheduled_export_id === null ? 'by_person' : 'by_schedule'),
    },
    {
      key: 'file',
      title: t('file'),
      align: 'end',
      cell: (one) => <DownloadButton jobId={one.id} path={one.download_path} size="compact-sm" />,
    },
  ];
}
