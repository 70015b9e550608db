import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { usePeople } from '@/identity/pickers';
import { Facts } from '@/kit/components/Facts';
import { useFormat } from '@/kit/i18n/format';
import { SchemaName } from '@/schemas/artifact_schemas';
import { FormatName } from './formats';
import { PARTS, TAG_SET_STATUSES, TAGS } from './request';

type Stored = Pick<Schemas['Export'], 'format' | 'filter' | 'options' | 'include'>;

/** What an export holds, as the service has stored it. */
export function RequestFacts({ of }: { of: Stored }) {
  const { t } = useTranslation('delivery/exports');
  const format = useFormat();
  const { filter, include } = of;
  const parts = PARTS.filter((part) => include[part]).map((part) => t(`parts.${part}`));
  const statuses = TAG_SET_STATUSES.filter((one) => filter.statuses.includes(one));
  const tags = TAGS.find((one) => one === include.tags);
  const options = Object.entries(of.options).map(([name, value]) => `${name}: ${String(value)}`);
  const period = (after: string | null, before: string | null) =>
    after === null && before === null
      ? null
      : `${after === null ? '…' : format.dateTime(after)} – ${before === null ? '…' : format.dateTime(before)}`;
  return (
    <Facts
      facts={[
        { label: t('format'), value: <FormatName format={of.format} /> },
        {
          label: t('schema'),
          value:
            filter.schema_id === null ? (
              t('all_schemas')
            ) : (
              <SchemaName schemaId={filter.schema_id} />
            ),
        },
        {
          label: t('documents'),
          value: filter.artifact_ids && format.number(filter.artifact_ids.length),
        },
        { label: t('labeler'), value: filter.labeler_id && <Labeler id={filter.labeler_id} /> },
        { label: t('tags'), value: tags && t(`tags_values.${tags}`) },
        {
          label: t('tag_set_statuses'),
          value: statuses.map((one) => t(`tag_set_status.${one}`)).join(', ') || null,
        },
        {
          label: t('periods.decided'),
          value: period(filter.decided_after, filter.decided_before),
        },
        {
          label: t('periods.created'),
          value: period(filter.created_after, filter.created_before),
        },
        { label: t('included'), value: parts.join(', ') || null },
        { label: t('options'), value: options.join(', ') || null },
      ]}
    />
  );
}

function Labeler({ id }: { id: string }) {
  return <>{usePeople().name(id) ?? id}</>;
}
