import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Notice } from '@/kit/components/Notice';
import { useFormat } from '@/kit/i18n/format';
import { countDifferences, type Field, type LocalTag } from '@/workflow/labeling';
import type { Resubmission } from './useResubmission';

interface Props {
  resubmission: Resubmission;
  /** As they were submitted again. */
  byField: ReadonlyMap<string, readonly LocalTag[]>;
  fields: readonly Field[];
}

/** Who sent the tag set back and why, and which fields have changed since. */
export function Resubmitted({ resubmission, byField, fields }: Props) {
  const { t } = useTranslation('workflow/review');
  const format = useFormat();
  const { revision, before } = resubmission;
  const sources = [{ key: 'before', name: t('sent_back.before'), tags: before }];
  const changed = fields.filter((field) => countDifferences(byField, [field], sources) > 0);
  const name = revision.author?.name ?? '–';
  const kind = revision.kind === 'reject' ? 'rejected' : 'reopened';
  return (
    <Notice color="gray" title={t(`sent_back.${kind}`, { name })}>
      <bdi>{revision.note}</bdi>
      <Text size="xs" c="dimmed" mt={4}>
        {format.dateTime(revision.created_at)} ·{' '}
        {changed.length === 0
          ? t('sent_back.unchanged')
          : t('sent_back.changed', { fields: changed.map(({ label }) => label) })}
      </Text>
    </Notice>
  );
}
