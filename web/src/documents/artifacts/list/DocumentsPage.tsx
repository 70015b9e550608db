import { Button, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Upload } from 'lucide-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Page } from '@/kit/components/Page';
import { useSelection } from '@/kit/lists/selection';
import { VirtualTable } from '@/kit/lists/VirtualTable';
import { useMay } from '@/kit/session/may';
import { BulkBar } from '../bulk/BulkBar';
import { parseQuery } from '../highlight';
import { type DocumentSearch, parseSearch, type Sort, toFilters, withoutEmpty } from '../search';
import { UploadArea } from '../upload/UploadArea';
import { UploadDialog } from '../upload/UploadDialog';
import { type ArtifactSummary, useDocuments } from '../useDocuments';
import { EmptyList } from './EmptyList';
import { Filters } from './Filters';
import { useColumns } from './useColumns';
import { useListKeys } from './useListKeys';

function useDocumentSearch() {
  const search = useSearch({ from: '/work/documents' });
  const navigate = useNavigate();
  const change = (changes: Partial<DocumentSearch>) =>
    void navigate({
      to: '/documents',
      search: (last) => withoutEmpty({ ...parseSearch(last), ...changes }),
      replace: true,
      resetScroll: false,
    });
  const clear = () => void navigate({ to: '/documents', search: {} });
  return { search, change, clear };
}

const rowId = (row: ArtifactSummary) => row.id;
const rowName = (row: ArtifactSummary) => row.name;

export function DocumentsPage() {
  const { t } = useTranslation('documents/artifacts');
  const may = useMay();
  const { search, change, clear } = useDocumentSearch();
  const list = useDocuments(search);
  const phrases = useMemo(() => parseQuery(search.q ?? ''), [search.q]);
  const columns = useColumns(phrases, search.q);
  const ids = useMemo(() => list.rows.map(rowId), [list.rows]);
  const filters = toFilters(search);
  const selection = useSelection(ids, JSON.stringify(filters));
  const [uploading, upload] = useDisclosure(false);
  const mayUpload = may('artifacts:create');
  const mayAct = may('artifacts:assign');
  const current = useListKeys(list.rows, {
    ...(mayUpload && { upload: upload.open }),
    ...(mayAct && { select: (id: string) => selection.toggle(id, false) }),
    q: search.q,
  });
  const actions = mayUpload && (
    <Button leftSection={<Upload size={16} aria-hidden />} onClick={upload.open}>
      {t('upload.open')}
    </Button>
  );
  return (
    <Page title={t('title')} actions={actions}>
      <UploadArea disabled={!mayUpload} open={upload.open}>
        <Stack gap="sm">
          <Filters search={search} change={change} clear={clear} />
          <ErrorAlert error={list.error} retry={list.retry} />
          {mayAct && selection.some && (
            <BulkBar selection={selection} total={list.total} filters={filters} />
          )}
          <VirtualTable
            {...list}
            label={t('title')}
            columns={columns}
            rowId={rowId}
            rowName={rowName}
            rowHeight={search.q ? 60 : 48}
            sort={search.sort ?? '-created_at'}
            onSort={(sort) => change({ sort: sort as Sort })}
            selection={mayAct ? selection : undefined}
            current={current}
            empty={<EmptyList search={search} clear={clear} upload={upload.open} />}
          />
        </Stack>
      </UploadArea>
      <UploadDialog opened={uploading} close={upload.close} />
    </Page>
  );
}
