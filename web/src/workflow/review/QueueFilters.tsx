import { Chip, Group, Select } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { toPeopleOptions } from '@/identity/pickers';
import { $api } from '@/kit/api/client';
import { roleMay } from '@/kit/session/may';
import { useMembers } from '@/workflow/labeling';
import type { Flag, QueueSearch } from './routes';

const FLAGS: readonly Flag[] = ['low_confidence', 'disagreement', 'resubmitted'];

function FlagSelect({
  flag,
  setFlag,
}: {
  flag: Flag | undefined;
  setFlag: (flag: Flag | undefined) => void;
}) {
  const { t } = useTranslation('workflow/review');
  return (
    <Select
      size="xs"
      clearable
      aria-label={t('columns.notes')}
      placeholder={t('columns.notes')}
      data={FLAGS.map((one) => ({ value: one, label: t(`flags.${one}`) }))}
      value={flag ?? null}
      onChange={(value) => setFlag(value ?? undefined)}
    />
  );
}

/** The filters of the queue; they are in the address. */
export function QueueFilters({ search }: { search: QueueSearch }) {
  const { t } = useTranslation('workflow/review');
  const navigate = useNavigate();
  const schemas = $api.useQuery('get', '/api/v1/schemas', {
    params: { query: { page_size: 1000 } },
  });
  const members = useMembers(true);
  const change = (changes: { [Name in keyof QueueSearch]?: QueueSearch[Name] | undefined }) => {
    const next = Object.entries({ ...search, ...changes, cursor: undefined }).filter(
      ([, value]) => value !== undefined && value !== false,
    );
    void navigate({ to: '/review', search: Object.fromEntries(next) as QueueSearch });
  };
  return (
    <Group gap="xs" role="search" aria-label={t('filters')}>
      <Select
        size="xs"
        clearable
        searchable
        aria-label={t('columns.schema')}
        placeholder={t('columns.schema')}
        data={(schemas.data?.data ?? []).map(({ id, name }) => ({
          value: id,
          label: name,
        }))}
        value={search.schema ?? null}
        onChange={(value) => change({ schema: value ?? undefined })}
      />
      <Select
        size="xs"
        clearable
        searchable
        aria-label={t('columns.labeler')}
        placeholder={t('columns.labeler')}
        data={toPeopleOptions(members.filter(({ role }) => roleMay(role, 'tag_sets:write')))}
        value={search.labeler ?? null}
        onChange={(value) => change({ labeler: value ?? undefined })}
      />
      <FlagSelect flag={search.flag} setFlag={(flag) => change({ flag })} />
      <Chip size="xs" checked={search.mine ?? false} onChange={(mine) => change({ mine })}>
        {t('mine')}
      </Chip>
      <Chip
        size="xs"
        checked={search.escalated ?? false}
        onChange={(escalated) => change({ escalated })}
      >
        {t('escalated')}
      </Chip>
    </Group>
  );
}
