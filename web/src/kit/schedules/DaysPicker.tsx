import { Chip, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useFormat } from '@/kit/i18n/format';
import { weekdayName } from './useScheduleWords';

const MONDAY_FIRST = [1, 2, 3, 4, 5, 6, 0];

interface Props {
  days: number[];
  onChange: (days: number[]) => void;
}

/** Weekdays to choose; at least one stays chosen. */
export function DaysPicker({ days, onChange }: Props) {
  const { t } = useTranslation('kit/schedules');
  const { locale } = useFormat();
  const toggle = (day: number) => {
    const next = days.includes(day) ? days.filter((one) => one !== day) : [...days, day];
    if (next.length > 0) onChange(next.sort((a, b) => a - b));
  };
  return (
    <Group gap={4} role="group" aria-label={t('days')}>
      {MONDAY_FIRST.map((day) => (
        <Chip
          key={day}
          size="xs"
          radius="sm"
          checked={days.includes(day)}
          aria-label={weekdayName(day, locale, 'long')}
          onChange={() => toggle(day)}
        >
          {weekdayName(day, locale, 'short')}
        </Chip>
      ))}
    </Group>
  );
}
