import { Group, Progress, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '@/kit/i18n/format';
import { StatusBadge, type Tone } from './StatusBadge';

interface Done {
  done: number;
  /** Null as long as it is not counted. */
  total: number | null;
}

interface StateProps {
  tone: Tone;
  isRunning: boolean;
  progress: Done;
  children: ReactNode;
}

/** The state of a job in words, with its share while it runs. */
export function JobState({ tone, isRunning, progress: { done, total }, children }: StateProps) {
  const format = useFormat();
  return (
    <Group gap={6}>
      <StatusBadge tone={tone}>{children}</StatusBadge>
      {isRunning && total !== null && total > 0 && (
        <Text span size="xs" c="dimmed">
          {format.percent(done / total)}
        </Text>
      )}
    </Group>
  );
}

interface Props {
  progress: Done & { rate_per_second: number | null; eta_seconds: number | null };
}

/** How far a running job is, and how long it will take. */
export function JobProgress({ progress }: Props) {
  const { t } = useTranslation();
  const format = useFormat();
  const { done, total, rate_per_second: rate, eta_seconds: eta } = progress;
  const shownRate = rate !== null && format.number(rate, { maximumFractionDigits: 1 });
  const texts = [
    total === null
      ? t('progress.waiting')
      : t('progress.done', { done: format.number(done), total: format.number(total) }),
    shownRate && t('progress.rate', { rate: shownRate }),
    eta !== null && t('progress.eta', { count: eta }),
  ];
  return (
    <Stack gap={4}>
      <Progress
        value={total ? (done / total) * 100 : 0}
        aria-label={t('progress.title')}
        animated
      />
      <Text size="sm" c="dimmed" role="status">
        {texts.filter(Boolean).join(' · ')}
      </Text>
    </Stack>
  );
}
