import { Button, Group, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { FieldSelect, SchemaSelect, toPeriod } from '@/insight/figures';
import { $api } from '@/kit/api/client';
import { asJson } from '@/kit/api/json';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Page } from '@/kit/components/Page';
import { useListSearch } from '@/kit/lists/useListSearch';
import { CalibrationPanel } from './CalibrationPanel';
import { FieldsPanel } from './FieldsPanel';
import type { ModelsSearch } from './routes';
import { TrendPanel } from './TrendPanel';
import { VersionsPanel } from './VersionsPanel';

const route = getRouteApi('/work/models');

export function ModelsPage() {
  const { t } = useTranslation('insight/feedback');
  const search: ModelsSearch = route.useSearch();
  const { filter, page } = useListSearch(search);
  const query = { ...search, ...toPeriod(search), cursor: undefined };
  const byField = $api.useQuery(
    'get',
    '/api/v1/feedback/summary/fields',
    { params: { query } },
    { placeholderData: keepPreviousData },
  );
  const found = asJson(byField.data)?.data;
  return (
    <Page title={t('title')} description={t('description')}>
      <Group align="flex-end" gap="sm">
        <SchemaSelect
          w={220}
          value={search.schema_id}
          onChange={(schema_id) => filter({ schema_id, field: undefined })}
        />
        <FieldSelect
          w={200}
          schemaId={search.schema_id}
          value={search.field}
          onChange={(field) => filter({ field })}
        />
        {search.model !== undefined && (
          <Button
            variant="default"
            maw="100%"
            rightSection={<X size={14} />}
            onClick={() => filter({ model: undefined })}
          >
            <Text size="sm" truncate>{`${t('model')}: ${search.model}`}</Text>
          </Button>
        )}
      </Group>
      <VersionsPanel
        search={search}
        onCursor={page}
        onModel={(model, schema_id) => filter({ model, schema_id })}
      />
      <TrendPanel query={query} />
      <ErrorAlert error={byField.error} retry={() => void byField.refetch()} />
      {found && <CalibrationPanel figures={found.total} />}
      {found && <FieldsPanel found={found} />}
    </Page>
  );
}
