import { Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { showValue } from './values';

/** The values of a label set, with the labels that its schema version gives the fields. */
export function TagTable({ tagSet }: { tagSet: Schemas['TagSetSummary'] }) {
  const { t } = useTranslation('documents/artifacts');
  const whole = $api.useQuery(
    'get',
    '/api/v1/tag-sets/{tag_set_id}',
    { params: { path: { tag_set_id: tagSet.id } } },
    { enabled: tagSet.tags === null },
  );
  const version = $api.useQuery(
    'get',
    '/api/v1/schema-versions/{version_id}',
    { params: { path: { version_id: tagSet.schema_version_id } } },
    { staleTime: Infinity },
  );
  const tags = tagSet.tags ?? whole.data?.data.tags ?? [];
  if (tagSet.tag_count === 0) return <Text c="dimmed">{t('labels.empty')}</Text>;
  const labels = new Map<string, string>();
  for (const field of version.data?.data.fields ?? []) {
    labels.set(field.key, field.label);
    for (const column of field.columns)
      labels.set(`${field.key}.${column.key}`, `${field.label}: ${column.label}`);
  }
  const name = (tag: Schemas['Tag']) => {
    const label = labels.get(tag.field) ?? tag.field;
    return tag.row === null ? label : `${label} (${tag.row + 1})`;
  };
  return (
    <Table.ScrollContainer minWidth={240}>
      <Table>
        <Table.Tbody>
          {tags.map((tag, index) => (
            <Table.Tr key={index}>
              <Table.Th w="40%" fw={400} c="dimmed" dir="auto">
                {name(tag)}
              </Table.Th>
              <Table.Td dir="auto">
                {typeof tag.value === 'boolean'
                  ? t(tag.value ? 'yes' : 'no')
                  : showValue(tag.value)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
