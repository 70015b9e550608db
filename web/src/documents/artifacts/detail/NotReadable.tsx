import { Notice } from '@/kit/components/Notice';
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
      <Notice color="blue" role="status">
        {row.ocr === 'pending' ? t('processing_ocr') : t('processing')}
      </Notice>
    );
  }
  return (
    <Notice color="red" title={t('failed')} role="alert">
      {row.failure?.message}
    </Notice>
  );
}
