import { Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { Marked } from '../Marked';
import type { Artifact } from '../useDocuments';
import { NotReadable, notReadable } from './NotReadable';
import styles from './detail.module.css';

/** As many characters are shown at once; more would make the page slow. */
const PART = 100_000;

export function TextPreview({ row, phrases }: { row: Artifact; phrases: readonly string[][] }) {
  const { t } = useTranslation('documents/artifacts');
  const [shown, setShown] = useState(PART);
  const { data, error, isPending } = $api.useQuery(
    'get',
    '/api/v1/artifacts/{artifact_id}/text',
    { params: { path: { artifact_id: row.id } } },
    { enabled: !notReadable(row), staleTime: Infinity, gcTime: 60_000 },
  );
  if (notReadable(row)) return <NotReadable row={row} />;
  if (error) return <ErrorAlert error={error} />;
  if (isPending) return <Loading />;
  const { text, language } = data.data;
  if (text.trim() === '') return <Text c="dimmed">{t('no_text')}</Text>;
  return (
    <Stack>
      <pre className={styles.text} dir="auto" lang={language ?? undefined}>
        <Marked text={text.slice(0, shown)} phrases={phrases} />
      </pre>
      {text.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + PART)}>
          {t('more_text')}
        </Button>
      )}
    </Stack>
  );
}
