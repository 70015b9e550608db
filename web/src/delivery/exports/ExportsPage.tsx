import { Anchor, Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { FileDown, Plus } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { pollWhile } from '@/kit/api/polling';
import { Page } from '@/kit/components/Page';
import { useFormat } from '@/kit/i18n/format';
import { useKeys } from '@/kit/keys/keys';
import { EmptyState } from '@/kit/parts/EmptyState';
import { type Column, ListTable } from '@/kit/parts/ListTable';
import { Loaded } from '@/kit/parts/Loaded';
import { Pager } from '@/kit/parts/Pager';
import { useMay } from '@/kit/session/may';
import { DownloadButton } from './DownloadButton';
import { StatusCell } from './ExportProgress';
import { ExportTabs } from './ExportTabs';
import { FormatName, useFormats } from './formats';
import { type Export, isPending, STATUSES } from './values';

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
      <ExportTabs active="exports" />
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

function useExports() {
  const { cursor, status, format } = useSearch({ from: '/work/exports' });
  return $api.useQuery(
    'get',
    '/api/v1/exports',
    {
      params: {
        query: {
          sort: '-created_at',
          page_size: 25,
          ...(cursor && { cursor }),
          ...(status && { status }),
          ...(format && { format }),
        },
      },
    },
    {
      refetchInterval: (polled) =>
        pollWhile(
          polled,
          polled.state.data?.data.some((one) => isPending(one.status)),
        ),
    },
  );
}

function List() {
  const { t } = useTranslation('delivery/exports');
  const may = useMay();
  const { status, format } = useSearch({ from: '/work/exports' });
  const navigate = useNavigate({ from: '/exports' });
  const columns = useColumns();
  const filters = { ...(status && { status }), ...(format && { format }) };
  return (
    <Loaded query={useExports()}>
      {({ data, meta }) =>
        meta.total === 0 && Object.keys(filters).length === 0 ? (
          <EmptyState
            icon={FileDown}
            title={t('empty.title')}
            text={t('empty.text')}
            action={may('exports:create') && <CreateButton />}
          />
        ) : (
          <Stack gap="sm">
            <Filters />
            {data.length > 0 && (
              <ListTable
                label={t('title')}
                columns={columns}
                rows={data}
                rowKey={(one) => one.id}
              />
            )}
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
  const { t } = useTranslation('delivery/exports');
  const { status, format } = useSearch({ from: '/work/exports' });
  const navigate = useNavigate({ from: '/exports' });
  const formats = useFormats() ?? [];
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
            search: { ...(format && { format }), ...(next && { status: next }) },
          });
        }}
      />
      <NativeSelect
        size="xs"
        aria-label={t('format')}
        value={format ?? ''}
        data={[
          { value: '', label: t('any_format') },
          ...formats.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onChange={({ currentTarget: { value } }) =>
          void navigate({
            search: { ...(status && { status }), ...(value && { format: value }) },
          })
        }
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
      wide: true,
      align: 'right',
      cell: (one) => (one.row_count === null ? '–' : format.number(one.row_count)),
    },
    {
      key: 'size',
      title: t('size'),
      wide: true,
      align: 'right',
      cell: (one) => (one.size_bytes === null ? '–' : format.bytes(one.size_bytes)),
    },
    {
      key: 'from',
      title: t('started_by'),
      wide: true,
      cell: (one) => t(one.scheduled_export_id === null ? 'by_person' : 'by_schedule'),
    },
    {
      key: 'file',
      title: t('file'),
      align: 'right',
      cell: (one) => <DownloadButton jobId={one.id} path={one.download_path} size="compact-sm" />,
    },
  ];
}
