import { Anchor, Breadcrumbs, Button, Stack, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { File, Folder } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { Loaded } from '@/kit/components/Loaded';
import { Section } from '@/kit/components/Section';
import { StatusBadge } from '@/kit/components/StatusBadge';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { type Connector, splitFolders } from './values';

type Entry = Schemas['ConnectorEntry'];
const ENTRIES = 100;

/** What is in the source, folder by folder, and what a crawl would read. */
export function Browser({ connector }: { connector: Connector }) {
  const { t } = useTranslation('intake/connectors');
  const { folder } = useSearch({ from: '/work/connectors/$connectorId' });
  const navigate = useNavigate({ from: '/connectors/$connectorId' });
  const open = (path: string | undefined) =>
    void navigate({ search: path === undefined ? {} : { folder: path } });
  return (
    <Section
      title={t('browse.title')}
      description={t('browse.text')}
      actions={
        folder === undefined && (
          <Button size="compact-sm" variant="default" onClick={() => open('/')}>
            {t('browse.open')}
          </Button>
        )
      }
    >
      {folder !== undefined && (
        <Stack gap="sm">
          <Breadcrumbs separatorMargin={6}>
            <Crumb name={t('browse.root')} open={() => open('/')} />
            {splitFolders(folder).map(({ name, path }) => (
              <Crumb key={path} name={name} open={() => open(path)} />
            ))}
          </Breadcrumbs>
          <Entries connector={connector} folder={folder} open={open} />
        </Stack>
      )}
    </Section>
  );
}

function Crumb({ name, open }: { name: string; open: () => void }) {
  return (
    <Anchor component="button" type="button" size="sm" dir="auto" onClick={open}>
      {name}
    </Anchor>
  );
}

interface EntriesProps {
  connector: Connector;
  folder: string;
  open: (path: string) => void;
}

function Entries({ connector, folder, open }: EntriesProps) {
  const { t } = useTranslation('intake/connectors');
  const columns = useColumns(open);
  const query = $api.useQuery(
    'get',
    '/api/v1/connectors/{connector_id}/browse',
    {
      params: {
        path: { connector_id: connector.id },
        query: { path: folder === '/' ? '' : folder, limit: ENTRIES },
      },
    },
    { retry: false },
  );
  return (
    <Loaded query={query}>
      {({ data }) =>
        data.entries.length === 0 ? (
          <Text size="sm" c="dimmed">
            {t('browse.none')}
          </Text>
        ) : (
          <>
            <DataTable
              label={t('browse.title')}
              columns={columns}
              rows={data.entries}
              rowKey={(entry) => entry.path}
            />
            {data.entries.length === ENTRIES && (
              <Text size="xs" c="dimmed">
                {t('browse.first', { count: ENTRIES })}
              </Text>
            )}
          </>
        )
      }
    </Loaded>
  );
}

function useColumns(open: (path: string) => void): Column<Entry>[] {
  const { t } = useTranslation('intake/connectors');
  const format = useFormat();
  return [
    {
      key: 'name',
      title: t('name'),
      cell: (entry) =>
        entry.is_folder ? (
          <Anchor component="button" type="button" size="sm" onClick={() => open(entry.path)}>
            <Folder size={14} aria-hidden /> <span dir="auto">{entry.name}</span>
          </Anchor>
        ) : (
          <>
            <File size={14} aria-hidden /> <span dir="auto">{entry.name}</span>
          </>
        ),
    },
    {
      key: 'read',
      title: t('browse.crawl'),
      cell: (entry) =>
        entry.is_folder ? null : (
          <StatusBadge tone={entry.included ? 'good' : 'neutral'}>
            {t(entry.included ? 'browse.included' : 'browse.excluded')}
          </StatusBadge>
        ),
    },
    {
      key: 'size',
      title: t('browse.size'),
      hideBelow: 'sm',
      align: 'end',
      cell: (entry) => (entry.size_bytes === null ? '–' : format.bytes(entry.size_bytes)),
    },
    {
      key: 'modified',
      title: t('browse.modified'),
      hideBelow: 'sm',
      cell: (entry) => (entry.modified_at === null ? '–' : format.dateTime(entry.modified_at)),
    },
  ];
}
