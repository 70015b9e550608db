import { Group, Select, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { MemberSelect, TeamSelect } from '@/identity/pickers';
import { FieldSelect } from '@/insight/figures';
import type { Rights } from './trends';
import { listChoices } from './trends';
import type { TrendSearch } from './search';

interface Props {
  search: TrendSearch;
  rights: Rights;
  onChange: (changes: Partial<TrendSearch>) => void;
}

/** Which figure is shown over time, and for whom. */
export function TrendFilters({ search, rights, onChange }: Props) {
  const { t } = useTranslation('insight/quality');
  const { metrics, buckets, groups } = listChoices(search, rights);
  return (
    <Group align="flex-end" gap="sm">
      <Select
        label={t('trend.metric')}
        w={190}
        allowDeselect={false}
        value={search.metric ?? 'agreement'}
        data={metrics.map((value) => ({ value, label: t(`metrics.${value}`) }))}
        onChange={(next) => onChange({ metric: metrics.find((one) => one === next) })}
      />
      <Select
        label={t('trend.bucket')}
        w={110}
        allowDeselect={false}
        value={search.bucket ?? 'day'}
        data={buckets.map((value) => ({ value, label: t(`buckets.${value}`) }))}
        onChange={(next) => onChange({ bucket: buckets.find((one) => one === next) })}
      />
      <Select
        label={t('trend.group_by')}
        w={170}
        clearable
        placeholder={t('trend.one_line')}
        value={search.group_by ?? null}
        data={groups.map((value) => ({ value, label: t(`groups.${value}`) }))}
        onChange={(next) => onChange({ group_by: groups.find((one) => one === next) })}
      />
      {search.schema_id !== undefined && (
        <FieldSelect
          w={180}
          schemaId={search.schema_id}
          value={search.field}
          onChange={(field) => onChange({ field })}
        />
      )}
      {rights.isReviewer && <WhoseWork search={search} onChange={onChange} />}
      {search.schema_id === undefined && (
        <Text size="xs" c="dimmed" pb={8}>
          {t('trend.needs_schema')}
        </Text>
      )}
    </Group>
  );
}

/** Limits the figure to a team or a labeler. */
function WhoseWork({ search, onChange }: Omit<Props, 'rights'>) {
  const { t } = useTranslation('insight/quality');
  return (
    <>
      <TeamSelect
        w={180}
        placeholder={t('trend.all')}
        value={search.team_id}
        onChange={(team_id) => onChange({ team_id })}
      />
      <MemberSelect
        label={t('trend.labeler')}
        w={220}
        placeholder={t('trend.all')}
        value={search.labeler_id}
        onChange={(labeler_id) => onChange({ labeler_id })}
      />
    </>
  );
}
