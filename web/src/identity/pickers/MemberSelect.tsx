import { Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { requireOrganization } from '@/kit/session/organization';
import { withChosen, type Option } from './options';

const PAGE = 50;

interface Props extends Omit<SelectProps, 'data' | 'value' | 'onChange' | 'defaultValue'> {
  value: string | undefined;
  onChange: (userId: string | undefined) => void;
  /** The name of the chosen member, as far as the caller knows it. */
  chosenName?: string | undefined;
  exclude?: readonly string[];
}

/** Chooses a member of the organization by a part of the name or address. */
export function MemberSelect({ value, onChange, chosenName, exclude = [], ...rest }: Props) {
  const { t } = useTranslation('identity/pickers');
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState<Option>();
  const label = chosen?.value === value ? chosen?.label : chosenName;
  const [q] = useDebouncedValue(typed === label ? '' : typed.trim(), 200);
  const { data } = $api.useQuery(
    'get',
    '/api/v1/organizations/{org_slug}/members',
    {
      params: {
        path: { org_slug: requireOrganization() },
        query: { page_size: PAGE, ...(q !== '' && { q }) },
      },
    },
    { placeholderData: keepPreviousData },
  );
  const options = (data?.data ?? [])
    .filter(({ user }) => !exclude.includes(user.id))
    .map(({ user }) => ({ value: user.id, label: `${user.name} · ${user.email}` }));
  const known = value === undefined || label === undefined ? undefined : { value, label };
  return (
    <Select
      label={t('member')}
      nothingFoundMessage={t('nothing_found')}
      {...rest}
      searchable
      clearable
      // The API has filtered already.
      filter={({ options: all }) => all}
      data={withChosen(options, known)}
      value={value ?? null}
      searchValue={typed}
      onSearchChange={setTyped}
      onChange={(next, option) => {
        setChosen(option === null ? undefined : { value: option.value, label: option.label });
        onChange(next ?? undefined);
      }}
    />
  );
}
