import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { getRouteApi } from '@tanstack/react-router';
import { Calculator, ChartLine } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { FieldSelect } from '@/insight/figures';
import { EmptyState } from '@/kit/components/EmptyState';
import { useKeys } from '@/kit/keys/keys';
import { useListSearch } from '@/kit/lists/useListSearch';
import { useMay } from '@/kit/session/may';
import { AgreementResults } from './AgreementResults';
import { ComputeDialog } from './ComputeDialog';
import { QualityFrame } from './QualityFrame';
import { RunsPanel } from './RunsPanel';
import type { QualitySearch } from './search';

const route = getRouteApi('/work/quality/agreement');

export function AgreementPage() {
  const { t } = useTranslation('insight/quality');
  const search: QualitySearch = route.useSearch();
  const { filter, page } = useListSearch(search);
  const mayCompute = useMay()('quality_runs:create');
  const [opened, { open, close }] = useDisclosure(false);
  useKeys(t('title'), [
    { keys: 'c', text: t('runs.compute_title'), run: open, disabled: !mayCompute },
  ]);
  const { schema_id, field, cursor } = search;
  return (
    <QualityFrame
      schemaId={schema_id}
      onSchema={(next) => filter({ schema_id: next, field: undefined })}
      filters={
        <FieldSelect
          w={200}
          schemaId={schema_id}
          value={field}
          onChange={(next) => filter({ field: next })}
        />
      }
      actions={
        mayCompute && (
          <Button leftSection={<Calculator size={16} />} onClick={open}>
            {t('runs.compute')}
          </Button>
        )
      }
    >
      {schema_id === undefined ? (
        <EmptyState
          icon={ChartLine}
          title={t('agreement.choose')}
          description={t('agreement.choose_text')}
        />
      ) : (
        <AgreementResults key={schema_id} schemaId={schema_id} field={field} />
      )}
      <RunsPanel schemaId={schema_id} cursor={cursor} onCursor={page} />
      {opened && (
        <ComputeDialog
          schemaId={schema_id}
          onClose={close}
          onStarted={(id) => filter({ schema_id: id, field: undefined })}
        />
      )}
    </QualityFrame>
  );
}
