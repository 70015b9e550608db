import { Badge, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';

type Change = Schemas['FieldChange'];

/** Returns one side of a change as a short text. */
export function describeSide(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return value.map(describeSide).join(', ') || '–';
  const members = value as Record<string, unknown>;
  if ('value' in members && 'label' in members) return describeSide(members['label']);
  const entries = Object.entries(members);
  return entries.map(([key, member]) => `${key}: ${describeSide(member)}`).join(', ') || '–';
}

/** What differs between two versions; breaking changes come first. */
export function ChangeList({ changes }: { changes: readonly Change[] }) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const sorted = changes.toSorted((a, b) => Number(b.breaking) - Number(a.breaking));
  return (
    <Table.ScrollContainer minWidth={280} mah={360}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('change.field')}</Table.Th>
            <Table.Th>{t('change.what')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sorted.map((change, index) => (
            <Table.Tr key={index}>
              <Table.Td ff="monospace" fz="xs">
                {change.key}
              </Table.Td>
              <Table.Td>
                <What change={change} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const MEMBERS = [
  'field',
  'column',
  'type',
  'required',
  'multiple',
  'label',
  'description',
  'constraints',
  'options',
  'ai_assist',
] as const;

function What({ change }: { change: Change }) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const { kind, breaking } = change;
  const member = MEMBERS.find((known) => known === change.what);
  const what = member ? t(`change.member.${member}`) : change.what;
  return (
    <>
      <Text size="sm" component="span">
        {kind === 'changed'
          ? t('change.changed', {
              what,
              from: describeSide(change.from),
              to: describeSide(change.to),
            })
          : t(`change.${kind}`, { what })}
      </Text>
      {breaking && (
        <Badge variant="dot" color="orange" tt="none" ms="xs">
          {t('breaking.badge')}
        </Badge>
      )}
    </>
  );
}
