import { Button, Group, Progress, ScrollArea, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useFormat } from '@/kit/i18n/format';
import {
  clearUploads,
  retryUploads,
  stopUploads,
  summarize,
  type Upload,
  useUploads,
} from './uploads';
import styles from './upload.module.css';

/** Of thousands of files only these are listed: failures first, then what is going on. */
const LISTED = 100;
const ORDER = { failed: 0, sending: 1, waiting: 2, done: 3 };

export function UploadList() {
  const { t } = useTranslation('documents/artifacts');
  const format = useFormat();
  const uploads = useUploads();
  if (uploads.length === 0) return null;
  const summary = summarize(uploads);
  const sorted = uploads.toSorted((a, b) => ORDER[a.state] - ORDER[b.state]);
  return (
    <Stack gap="xs">
      <Progress
        value={summary.progress * 100}
        aria-label={t('upload.progress')}
        color={summary.isRunning || summary.failed === 0 ? undefined : 'red'}
      />
      <Group justify="space-between">
        <Text size="sm" role="status">
          {t('upload.summary', {
            done: format.number(summary.done),
            total: format.number(summary.total),
          })}
          {summary.failed > 0 && ` · ${t('upload.failed', { count: summary.failed })}`}
        </Text>
        <Group gap="xs">
          {summary.isRunning && (
            <Button size="compact-sm" variant="default" onClick={stopUploads}>
              {t('upload.stop')}
            </Button>
          )}
          {!summary.isRunning && summary.failed > 0 && (
            <Button size="compact-sm" variant="default" onClick={retryUploads}>
              {t('upload.retry')}
            </Button>
          )}
          {!summary.isRunning && (
            <Button size="compact-sm" variant="subtle" onClick={clearUploads}>
              {t('upload.clear')}
            </Button>
          )}
        </Group>
      </Group>
      <ScrollArea.Autosize mah={260} type="auto" viewportProps={{ tabIndex: 0 }}>
        {sorted.slice(0, LISTED).map((upload) => (
          <Item key={upload.id} upload={upload} />
        ))}
        {sorted.length > LISTED && (
          <Text size="sm" c="dimmed" py="xs">
            {t('upload.more', { count: sorted.length - LISTED })}
          </Text>
        )}
      </ScrollArea.Autosize>
    </Stack>
  );
}

function Item({ upload }: { upload: Upload }) {
  const { t } = useTranslation('documents/artifacts');
  const format = useFormat();
  const { state, progress, artifactId } = upload;
  return (
    <div className={styles.item}>
      <span dir="auto" title={upload.path}>
        {artifactId === undefined ? (
          upload.path
        ) : (
          <Link to="/documents/$artifactId" params={{ artifactId }}>
            {upload.path}
          </Link>
        )}
      </span>
      <Text component="span" size="sm" c="dimmed">
        {state === 'sending' ? format.percent(progress) : t(`upload.state.${state}`)}
      </Text>
      {state === 'failed' && <Reason upload={upload} />}
    </div>
  );
}

function Reason({ upload: { code, message } }: { upload: Upload }) {
  const { t } = useTranslation('documents/artifacts');
  const known = { artifact_duplicate: true, offline: true, stopped: true } as const;
  const own = code !== undefined && code in known ? (code as keyof typeof known) : undefined;
  return <span className={styles.reason}>{own ? t(`upload.reason.${own}`) : message}</span>;
}
