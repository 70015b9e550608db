import { Group, Progress, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { StatusBadge } from '@/kit/components/StatusBadge';
import { useFormat } from '@/kit/i18n/format';
import { type Job, TONES } from './values';

/** The state of a job in words, with its share while it runs. */
export function JobStatus({ job }: { job: Job }) {
  const { t } = useTranslation('intake/ingestion_jobs');
  const format = useFormat();
  const { done, total } = job.progress;
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
export function JobProgress({ progress }: { progress: Schemas['IngestionProgress'] }) {
  const { t } = useTranslation('intake/ingestion_jobs');
  const format = useFormat();
  const { done, total, rate_per_second: rate, eta_seconds: eta } = progress;
  const rateText = rate !== null && format.number(rate, { maximumFractionDigits: 1 });
  return (
    <Stack gap={4}>
      <Progress
        value={total ? (done / total) * 100 : 0}
        aria-label={t('progress.title')}
        animated
      />
      <Text size="sm" c="dimmed" role="status">
        {total === null
          ? t('progress.counting')
          : t('progress.done', {
              done: format.number(done),
              total: format.number(total),
            })}
        {rateText && ` · ${t('progress.rate', { rate: rateText })}`}
        {eta !== null && ` · ${t('progress.eta', { count: eta })}`}
      </Text>
    </Stack>
  );
}
