import { Button, Group, Select, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Radar, Waves } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { SchemaSelect } from '@/insight/figures';
import { $api } from '@/kit/api/client';
import { isApiError } from '@/kit/api/errors';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Page } from '@/kit/components/Page';
import { Listing } from '@/kit/lists/Listing';
import { hasFilter } from '@/kit/lists/search';
import { useListSearch } from '@/kit/lists/useListSearch';
import { useMay } from '@/kit/session/may';
import { DetectDialog } from './DetectDialog';
import { DriftTable } from './DriftTable';
import { STATUSES, SUBJECTS } from './kinds';
import type { DriftSearch } from './routes';

const route = getRouteApi('/work/drift');
const ASK_MILLISECONDS = 1_500;

/** Returns the state of a detection that has not ended, which the API answers with a conflict. */
function stateOf(error: unknown): string | undefined {
  if (!isApiError(error, 'conflict')) return undefined;
  const { status } = error.details;
  return typeof status === 'string' ? status : undefined;
}

function useReports(search: DriftSearch) {
  return $api.useQuery(
    'get',
    '/api/v1/quality/drift',
    { params: { query: { ...search, page_size: 50 } } },
    {
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) => {
        const status = stateOf(state.error);
        return status === 'queued' || status === 'running' ? ASK_MILLISECONDS : false;
      },
    },
  );
}

export function DriftPage() {
  const { t } = useTranslation('insight/drift');
  const search: DriftSearch = route.useSearch();
  const { filter, page } = useListSearch(search);
  const mayDetect = useMay()('drift:manage');
  const [opened, { open, close }] = useDisclosure(false);
  const query = useReports(search);
  const status = stateOf(query.error);
  const { detection_id, schema_id, ...others } = search;
  // A detection of a schema that found nothing is what was asked for.
  const isFiltered = hasFilter(detection_id === undefined ? { schema_id, ...others } : others);
  return (
    <Page
      title={t('title')}
      description={t('description')}
      actions={
        mayDetect && (
          <Button leftSection={<Radar size={16} />} onClick={open}>
            {t('detect')}
          </Button>
        )
      }
    >
      <Filters search={search} onChange={filter} />
      {status === 'failed' && <ErrorAlert error={new Error(t('failed'))} />}
      {status !== undefined && status !== 'failed' && (
        <Text size="sm" role="status">
          {t('detecting')}
        </Text>
      )}
      {status === undefined && (
        <Listing
          query={query}
          cursor={search.cursor}
          onCursor={page}
          isFiltered={isFiltered}
          empty={{
            title: t('empty.title'),
            description: t('empty.text'),
            icon: Waves,
          }}
        >
          {(rows) => <DriftTable reports={rows} />}
        </Listing>
      )}
      {opened && (
        <DetectDialog
          schemaId={search.schema_id}
          onClose={close}
          onStarted={(detection_id) => filter({ detection_id, status: undefined })}
        />
      )}
    </Page>
  );
}

interface FiltersProps {
  search: DriftSearch;
  onChange: (changes: Partial<DriftSearch>) => void;
}

function Filters({ search, onChange }: FiltersProps) {
  const { t } = useTranslation('insight/drift');
  const { t: tKit } = useTranslation();
  return (
    <Group align="flex-end" gap="sm">
      <SchemaSelect
        w={220}
        value={search.schema_id}
        onChange={(schema_id) => onChange({ schema_id, detection_id: undefined })}
      />
      <Select
        label={t('filters.status')}
        placeholder={tKit('list.all')}
        w={150}
        clearable
        value={search.status ?? null}
        data={STATUSES.map((value) => ({ value, label: t(`status.${value}`) }))}
        onChange={(next) => onChange({ status: STATUSES.find((one) => one === next) })}
      />
      <Select
        label={t('filters.subject')}
        placeholder={tKit('list.all')}
        w={150}
        clearable
        value={search.subject ?? null}
        data={SUBJECTS.map((value) => ({ value, label: t(`subjects.${value}`) }))}
        onChange={(next) => onChange({ subject: SUBJECTS.find((one) => one === next) })}
      />
      {search.detection_id !== undefined && (
        <Group gap="xs">
          <Text size="sm">{t('detected')}</Text>
          <Button
            variant="subtle"
            size="compact-sm"
            onClick={() => onChange({ detection_id: undefined })}
          >
            {t('all')}
          </Button>
        </Group>
      )}
    </Group>
  );
}
