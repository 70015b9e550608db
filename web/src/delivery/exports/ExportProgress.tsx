import { Group, Progress, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { StatusBadge } from '@/kit/components/StatusBadge';
import { useFormat } from '@/kit/i18n/format';
import { hasExpired, type Run, TONES } from './values';

interface StatusProps {
  job: Pick<Run, 'status' | 'progress' | 'expires_at' | 'download_path'>;
}

/** The state of a job in one word, with its share while it runs. */
export function StatusCell({ job }: StatusProps) {
  const { t } = useTranslation('delivery/exports');
  const format = useFormat();
  const { done, total } = job.progress;
  if (hasExpired(job)) return <StatusBadge tone="neutral">{t('expired')}</StatusBadge>;
  return (
    <Group gap={6}>
      <StatusBadge tone={TONES[job.status]}>{t(`statuses.${job.status}`)}</StatusBadge>
      {job.status === 'running' && total !== null && total > 0 && (
        <Text span size="xs" c="dimmed">
          {format.percent(done / total)}
        </Text>
      )}
    </Group>
  );
}

/** How far a running job is, and how long it will take. */
export function ExportProgress({ progress }: { progress: Schemas['ExportProgress'] }) {
  const { t } = useTranslation('delivery/exports');
  const format = useFormat();
  const { done, total, rate_per_second: rate, eta_seconds: eta } = progress;
  return (
    <Stack gap={4}>
      <Progress
        value={total ? (done / total) * 100 : 0}
        aria-label={t('progress.title')}
        animated
      />
      <Text size="sm" c="dimmed" role="status">
        {total === null
          ? t('progress.waiting')
          : t('progress.done', {
              done: format.number(done),
              total: format.number(total),
            })}
        {rate !== null &&
          ` · ${t('progress.rate', { rate: format.number(rate, { maximumFractionDigits: 0 }) })}`}
        {eta !== null && ` · ${t('progress.eta', { count: eta })}`}
      </Text>
    </Stack>
  );
}
