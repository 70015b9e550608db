import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useFormat } from '@/kit/i18n/format';
import { fromPeriod } from '@/kit/lists/days';

interface Props {
  period: { from: string; to: string; time_zone: string; truncated?: boolean };
}

/** The period that the answer really covers. */
export function PeriodNote({ period }: Props) {
  const { t } = useTranslation('insight/figures');
  const format = useFormat();
  const { from, to } = fromPeriod(period);
  return (
    <Text size="xs" c="dimmed">
      {t('period', {
        from: format.date(`${from}T12:00`),
        to: format.date(`${to}T12:00`),
        zone: period.time_zone,
      })}
      {period.truncated && ` · ${t('truncated')}`}
    </Text>
  );
}
