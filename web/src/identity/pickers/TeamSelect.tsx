import { Select, type SelectProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useTeams } from './useTeams';

interface Props extends Omit<SelectProps, 'data' | 'value' | 'onChange' | 'defaultValue'> {
  value: string | undefined;
  onChange: (teamId: string | undefined) => void;
  exclude?: readonly string[];
}

/** Chooses a team of the organization. */
export function TeamSelect({ value, onChange, exclude = [], ...rest }: Props) {
  const { t } = useTranslation('identity/pickers');
  const teams = useTeams().filter((team) => !exclude.includes(team.value));
  return (
    <Select
      label={t('team')}
      nothingFoundMessage={t('no_team')}
      {...rest}
      searchable
      clearable
      limit={100}
      data={teams}
      value={value ?? null}
      onChange={(next) => onChange(next ?? undefined)}
    />
  );
}
