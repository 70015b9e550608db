import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useKeys } from '@/kit/keys/keys';
import type { ArtifactSummary } from '../useDocuments';

export const SEARCH_ID = 'documents-search';

interface Actions {
  upload?: () => void;
  select?: (id: string) => void;
  q: string | undefined;
}

/** Keys of the list; returns the row that they act on. */
export function useListKeys(rows: readonly ArtifactSummary[], { upload, select, q }: Actions) {
  const { t } = useTranslation('documents/artifacts');
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<number>();
  const current =
    chosen === undefined || rows.length === 0 ? undefined : Math.min(chosen, rows.length - 1);
  const row = current === undefined ? undefined : rows[current];
  const move = (step: number) =>
    setChosen(Math.max(0, Math.min(rows.length - 1, (current ?? -1) + step)));
  const open = () => {
    if (!row) return;
    const params = { artifactId: row.id };
    void navigate({ to: '/documents/$artifactId', params, search: q ? { q } : {} });
  };
  useKeys(t('title'), [
    { keys: 'j', text: t('keys.next'), run: () => move(1), repeats: true },
    { keys: 'k', text: t('keys.previous'), run: () => move(-1), repeats: true },
    { keys: 'o', text: t('keys.open'), run: open, disabled: !row },
    ...(select && row ? [{ keys: 'x', text: t('keys.select'), run: () => select(row.id) }] : []),
    {
      keys: '/',
      text: t('keys.search'),
      run: () => document.getElementById(SEARCH_ID)?.focus(),
    },
    ...(upload ? [{ keys: 'u', text: t('upload.open'), run: upload }] : []),
  ]);
  return current;
}
