import { Badge, Button, Center, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { FileInput, LayoutTemplate, Plus } from 'lucide-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { api, unwrap } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Page } from '@/kit/components/Page';
import { useFormat } from '@/kit/i18n/format';
import { useKeys } from '@/kit/keys/keys';
import type { Column } from '@/kit/lists/columns';
import { useCursorList } from '@/kit/lists/useCursorList';
import { VirtualTable } from '@/kit/lists/VirtualTable';
import { useMay } from '@/kit/session/may';
import { CreateDialog } from '../create/CreateDialog';
import { parseSearch, type SchemaSearch, STATUSES } from '../search';
import styles from './list.module.css';

type Summary = Schemas['SchemaSummary'];

export const STATUS_COLORS = { draft: 'gray', active: 'teal', inactive: 'orange' } as const;

function useSchemas(search: SchemaSearch) {
  const query = { ...search, sort: search.sort ?? ('name' as const), page_size: 100 };
  return useCursorList<Summary>({
    path: '/api/v1/schemas',
    params: query,
    fetch: (cursor, signal) => {
      const params = { query: { ...query, ...(cursor !== undefined && { cursor }) } };
      return unwrap(api.GET('/api/v1/schemas', { params, signal }));
    },
  });
}

function useColumns() {
  const { t } = useTranslation('schemas/artifact_schemas');
  const format = useFormat();
  return useMemo<Column<Summary>[]>(
    () => [
      {
        key: 'name',
        title: t('column.name'),
        sort: 'name',
        cell: (row) => <Name row={row} />,
      },
      {
        key: 'status',
        title: t('column.status'),
        width: 120,
        cell: (row) => (
          <Badge variant="dot" color={STATUS_COLORS[row.status]} tt="none">
            {t(`status.${row.status}`)}
          </Badge>
        ),
      },
      {
        key: 'type',
        title: t('column.document_type'),
        width: 150,
        hideBelow: 'md',
        cell: (row) => row.document_type,
      },
      {
        key: 'version',
        title: t('column.version'),
        width: 90,
        hideBelow: 'sm',
        cell: (row) => row.current_version?.number ?? '–',
      },
      {
        key: 'updated',
        title: t('column.updated'),
        sort: 'updated_at',
        width: 150,
        hideBelow: 'sm',
        cell: (row) => format.relative(row.updated_at),
      },
    ],
    [t, format],
  );
}

function Name({ row }: { row: Summary }) {
  return (
    <div className={styles.name}>
      <Link
        to="/schemas/$schemaId"
        params={{ schemaId: row.id }}
        className={styles.link}
        dir="auto"
      >
        {row.name}
      </Link>
      <span className={styles.second} dir="auto">
        {row.description}
      </span>
    </div>
  );
}

function NewButtons({ create }: { create: () => void }) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const icon = { size: 16, 'aria-hidden': true } as const;
  return (
    <>
      <Button
        variant="default"
        component={Link}
        to="/schemas/templates"
        leftSection={<LayoutTemplate {...icon} />}
      >
        {t('templates.open')}
      </Button>
      <Button
        variant="default"
        component={Link}
        to="/schemas/import"
        leftSection={<FileInput {...icon} />}
      >
        {t('import.open')}
      </Button>
      <Button leftSection={<Plus {...icon} />} onClick={create}>
        {t('create.open')}
      </Button>
    </>
  );
}

export function SchemasPage() {
  const { t } = useTranslation('schemas/artifact_schemas');
  const search = useSearch({ from: '/work/schemas' });
  const navigate = useNavigate();
  const mayManage = useMay()('schemas:manage');
  const list = useSchemas(search);
  const columns = useColumns();
  const [creating, create] = useDisclosure(false);
  useKeys(t('title'), mayManage ? [{ keys: 'n', text: t('create.open'), run: create.open }] : []);
  const change = (changes: Record<string, unknown>) =>
    void navigate({
      to: '/schemas',
      search: parseSearch({ ...search, ...changes }),
      replace: true,
    });
  const empty = Object.keys(search).length > 0 ? t('empty_filtered') : t('empty');
  return (
    <Page title={t('title')} actions={mayManage && <NewButtons create={create.open} />}>
      <Stack gap="sm">
        <Filters search={search} change={change} />
        <ErrorAlert error={list.error} retry={list.retry} />
        <VirtualTable
          {...list}
          label={t('title')}
          columns={columns}
          rowId={(row) => row.id}
          rowName={(row) => row.name}
          sort={search.sort ?? 'name'}
          onSort={(sort) => change({ sort })}
          empty={
            <Center p="xl">
              <Text c="dimmed">{empty}</Text>
            </Center>
          }
        />
      </Stack>
      <CreateDialog opened={creating} close={create.close} />
    </Page>
  );
}

interface FiltersProps {
  search: SchemaSearch;
  change: (changes: Record<string, unknown>) => void;
}

function Filters({ search, change }: FiltersProps) {
  const { t } = useTranslation('schemas/artifact_schemas');
  return (
    <Group gap="xs">
      <Select
        aria-label={t('column.status')}
        placeholder={t('column.status')}
        clearable
        data={STATUSES.map((value) => ({ value, label: t(`status.${value}`) }))}
        value={search.status ?? null}
        onChange={(status) => change({ status })}
      />
      <TextInput
        aria-label={t('column.document_type')}
        placeholder={t('column.document_type')}
        defaultValue={search.document_type}
        onBlur={(event) => change({ document_type: event.currentTarget.value.trim() })}
        onKeyDown={(event) => {
          if (event.key === 'Enter') change({ document_type: event.currentTarget.value.trim() });
        }}
      />
    </Group>
  );
}
