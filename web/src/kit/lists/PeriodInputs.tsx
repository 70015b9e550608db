import { Group, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { DaySearch } from './days';

interface Props {
  /** Undefined as long as the service has not named the usual period. */
  from: string | undefined;
  to: string | undefined;
  onChange: (period: DaySearch) => void;
}

/**
 * Chooses the first and the last day of a period. A day that is not complete changes nothing. It stays
 * when a period is refused, so that another one can be chosen.
 */
export function PeriodInputs({ from, to, onChange }: Props) {
  const { t } = useTranslation();
  const change = (period: DaySearch) => {
    if (period.from !== '' && period.to !== '') onChange(period);
  };
  return (
    <Group gap="sm">
      <TextInput
        type="date"
        label={t('list.from')}
        value={from ?? ''}
        max={to}
        onChange={({ currentTarget }) => change({ from: currentTarget.value, to })}
      />
      <TextInput
        type="date"
        label={t('list.to')}
        value={to ?? ''}
        min={from}
        onChange={({ currentTarget }) => change({ from, to: currentTarget.value })}
      />
    </Group>
  );
}
