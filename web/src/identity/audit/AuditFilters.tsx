import { Button, Group, Select, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { MemberSelect } from '@/identity/pickers';
import { SearchInput } from '@/kit/lists/SearchInput';
import { ACTORS } from './kinds';
import type { AuditSearch } from './routes';

interface Props {
  search: AuditSearch;
  onChange: (changes: Partial<AuditSearch>) => void;
}

const NONE: AuditSearch = {
  actor_id: undefined,
  actor_kind: undefined,
  action: undefined,
  target_type: undefined,
  target_id: undefined,
  from: undefined,
  to: undefined,
};

export function AuditFilters({ search, onChange }: Props) {
  const { t } = useTranslation('identity/audit');
  const { t: tKit } = useTranslation();
  const isFiltered = Object.keys(NONE).some((key) => search[key as keyof AuditSearch]);
  const day = (name: 'from' | 'to') => (
    <TextInput
      type="date"
      label={t(`filters.${name}`)}
      value={search[name] ?? ''}
      onChange={({ currentTarget }) => onChange({ [name]: currentTarget.value || undefined })}
    />
  );
  return (
    <Group align="flex-end" gap="sm">
      <MemberSelect
        label={t('filters.actor')}
        placeholder={tKit('list.all')}
        w={220}
        value={search.actor_id}
        onChange={(actor_id) => onChange({ actor_id })}
      />
      <Select
        label={t('filters.kind')}
        placeholder={tKit('list.all')}
        w={150}
        clearable
        value={search.actor_kind ?? null}
        data={ACTORS.map((value) => ({ value, label: t(`actors.${value}`) }))}
        onChange={(next) => onChange({ actor_kind: ACTORS.find((one) => one === next) })}
      />
      <SearchInput
        label={t('filters.action')}
        aria-label={t('filters.action')}
        placeholder={t('filters.action_text')}
        w={220}
        maxLength={100}
        value={search.action}
        onChange={(action) => onChange({ action })}
      />
      <SearchInput
        label={t('filters.target_type')}
        aria-label={t('filters.target_type')}
        placeholder="webhooks"
        w={160}
        maxLength={100}
        value={search.target_type}
        onChange={(target_type) => onChange({ target_type })}
      />
      {day('from')}
      {day('to')}
      {isFiltered && (
        <Button variant="subtle" onClick={() => onChange(NONE)}>
          {search.target_id === undefined
            ? t('filters.reset')
            : `${t('filters.reset')} (${t('filters.target')})`}
        </Button>
      )}
    </Group>
  );
}
