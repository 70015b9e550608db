import { Alert } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Artifact } from '../useDocuments';

/** Says why a document has no text and pages; nothing if it has. */
export function notReadable(row: Artifact): boolean {
  return row.status === 'processing' || row.status === 'failed';
}

export function NotReadable({ row }: { row: Artifact }) {
  const { t } = useTranslation('documents/artifacts');
  if (row.status === 'processing') {
    return (
      <Alert color="blue" role="status">
        {row.ocr === 'pending' ? t('processing_ocr') : t('processing')}
      </Alert>
    );
  }
  return (
    <Alert color="red" title={t('failed')} role="alert">
      {row.failure?.message}
    </Alert>
  );
}
