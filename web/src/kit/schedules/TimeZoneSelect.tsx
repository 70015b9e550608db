import { Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';

interface Props {
  value: string;
  onChange: (timeZone: string) => void;
  error: string | undefined;
}

/** All time zones that the browser knows, found by typing. */
export function TimeZoneSelect({ value, onChange, error }: Props) {
  const { t } = useTranslation('kit/schedules');
  const zones = new Set(['UTC', ...Intl.supportedValuesOf('timeZone'), value]);
  return (
    <Select
      label={t('time_zone')}
      searchable
      allowDeselect={false}
      limit={60}
      data={[...zones]}
      value={value}
      onChange={(zone) => zone && onChange(zone)}
      nothingFoundMessage={t('no_zone')}
      error={error}
    />
  );
}
