import { Paper, Progress, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { useFormat } from '@/kit/i18n/format';

/** How far the latest replay is. */
export function ReplayProgress({ replay }: { replay: Schemas['WebhookReplay'] }) {
  const { t } = useTranslation('delivery/webhooks');
  const format = useFormat();
  const { done, total } = replay.progress;
  const share = total === null ? 0 : total === 0 ? 100 : (done / total) * 100;
  const state =
    replay.stop_reason !== null
      ? t(`replay.stopped.${replay.stop_reason}`)
      : replay.finished_at === null
        ? t('replay.running')
        : t('replay.finished', { time: format.relative(replay.finished_at) });
  return (
    <Paper withBorder p="sm">
      <Stack gap={6}>
        <Text size="sm" fw={500} role="status">
          {t('replay.title')}: {state}
        </Text>
        <Progress value={share} aria-label={t('replay.title')} />
        <Text size="xs" c="dimmed">
          {total === null
            ? t('replay.counting')
            : t('replay.progress', {
                done: format.number(done),
                total: format.number(total),
              })}
          {' · '}
          {format.dateTime(replay.from)} – {format.dateTime(replay.to)}
        </Text>
      </Stack>
    </Paper>
  );
}
