import { Group, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';

interface Period {
  from: string;
  to: string;
}

interface Props {
  from: string;
  to: string;
  onChange: (period: Period) => void;
}

/** Chooses the first and the last day of a period. A day that is not complete changes nothing. */
export function PeriodInputs({ from, to, onChange }: Props) {
  const { t } = useTranslation();
  const change = (period: Period) => {
    if (period.from !== '' && period.to !== '') onChange(period);
  };
  return (
    <Group gap="sm">
      <TextInput
        type="date"
        label={t('list.from')}
        value={from}
        max={to}
        onChange={({ currentTarget }) => change({ from: currentTarget.value, to })}
      />
      <TextInput
        type="date"
        label={t('list.to')}
        value={to}
        min={from}
        onChange={({ currentTarget }) => change({ from, to: currentTarget.value })}
      />
    </Group>
  );
}
