import { Select, type SelectProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';

interface Props extends Omit<SelectProps, 'data' | 'value' | 'onChange'> {
  value?: string;
  onChange?: (timeZone: string) => void;
}

/** All time zones that the browser knows, found by typing. */
export function TimeZoneSelect({ value, onChange, ...rest }: Props) {
  const { t } = useTranslation('kit/forms');
  const zones = new Set(['UTC', ...(value ? [value] : []), ...Intl.supportedValuesOf('timeZone')]);
  return (
    <Select
      label={t('time_zone')}
      {...rest}
      searchable
      allowDeselect={false}
      limit={200}
      data={[...zones]}
      value={value ?? null}
      onChange={(zone) => zone && onChange?.(zone)}
      nothingFoundMessage={t('no_zone')}
    />
  );
}
