import { Select, type SelectProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { roleMay } from '@/kit/session/may';
import { toPeopleOptions } from './options';
import { usePeople } from './usePeople';

type Props = Omit<SelectProps, 'data' | 'onChange' | 'value'> & {
  value: string | undefined;
  onChange: (id: string | undefined, kind: 'user' | 'team' | undefined) => void;
  only?: 'users' | 'teams';
};

/** Chooses one member who can label, or one team. */
export function AssigneeSelect({ value, onChange, only, ...rest }: Props) {
  const { t } = useTranslation('identity/pickers');
  const { members, teams } = usePeople();
  const labelers = members.filter(({ role }) => roleMay(role, 'tag_sets:write'));
  const people = toPeopleOptions(labelers);
  const groups = teams.map((team) => ({ value: team.id, label: team.name }));
  const data = [
    ...(only === 'teams' ? [] : [{ group: t('people.members'), items: people }]),
    ...(only === 'users' ? [] : [{ group: t('people.teams'), items: groups }]),
  ].filter(({ items }) => items.length > 0);
  return (
    <Select
      searchable
      clearable
      limit={100}
      nothingFoundMessage={t('people.none')}
      {...rest}
      data={data}
      value={value ?? null}
      onChange={(id) => {
        if (id === null) onChange(undefined, undefined);
        else onChange(id, groups.some((team) => team.value === id) ? 'team' : 'user');
      }}
    />
  );
}
