import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { cutSnippet } from '../highlight';
import { Pieces } from '../Marked';
import type { ArtifactSummary } from '../useDocuments';
import styles from './list.module.css';

/** Longer texts are not read for one line of a list. */
const LONGEST = 300_000;

/** The passage of a document that a search found. The row reads it when it comes into view. */
export function Snippet({ row, phrases }: { row: ArtifactSummary; phrases: readonly string[][] }) {
  const { t } = useTranslation('documents/artifacts');
  const isReadable =
    row.status !== 'processing' && row.status !== 'failed' && row.text_length <= LONGEST;
  const { data, isPending } = $api.useQuery(
    'get',
    '/api/v1/artifacts/{artifact_id}/text',
    { params: { path: { artifact_id: row.id } } },
    { enabled: isReadable, staleTime: Infinity, gcTime: 60_000, retry: false },
  );
  const pieces = useMemo(() => data && cutSnippet(data.data.text, phrases), [data, phrases]);
  const found = pieces ?? matchMetadata(row, phrases);
  return (
    <span className={styles.snippet} dir="auto">
      {found ? <Pieces pieces={found} /> : isReadable && isPending ? '…' : t('no_passage')}
    </span>
  );
}

function matchMetadata(row: ArtifactSummary, phrases: readonly string[][]) {
  for (const [key, value] of Object.entries(row.metadata ?? {})) {
    const pieces = cutSnippet(String(value), phrases);
    if (pieces) return [{ text: `${key}: `, marked: false }, ...pieces];
  }
  return undefined;
}
