import { Button, Code, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { Dialog } from '@/kit/components/Dialog';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { listChanges, showValue, type Change } from './changes';

type Entry = Schemas['AuditEntry'];

interface Props {
  entries: readonly Entry[];
  onTarget: (targetId: string) => void;
}

export function AuditTable({ entries, onTarget }: Props) {
  const { t } = useTranslation('identity/audit');
  const format = useFormat();
  const [shown, setShown] = useState<Entry>();
  const columns: Column<Entry>[] = [
    {
      key: 'at',
      title: t('columns.at'),
      heads: true,
      cell: ({ at }) => (
        <Text size="sm" style={{ whiteSpace: 'nowrap' }}>
          {format.dateTime(at)}
        </Text>
      ),
    },
    {
      key: 'actor',
      title: t('columns.actor'),
      cell: ({ actor }) => (
        <>
          <Text size="sm" dir="auto" ta="start">
            {actor.label}
          </Text>
          <Text size="xs" c="dimmed">
            {t(`actors.${actor.kind}`)}
          </Text>
        </>
      ),
    },
    { key: 'action', title: t('columns.action'), cell: ({ action }) => action },
    {
      key: 'target',
      title: t('columns.target'),
      cell: ({ target }) => <Target target={target} onTarget={onTarget} />,
    },
    {
      key: 'changes',
      title: t('columns.changes'),
      align: 'end',
      cell: (entry) => <ChangesButton entry={entry} onOpen={() => setShown(entry)} />,
    },
  ];
  return (
    <>
      <DataTable
        label={t('title')}
        columns={columns}
        rows={entries}
        rowKey={({ id }) => id}
        minWidth={820}
      />
      {shown && <Details entry={shown} onClose={() => setShown(undefined)} />}
    </>
  );
}

interface TargetProps {
  target: Entry['target'];
  onTarget: (targetId: string) => void;
}

function Target({ target, onTarget }: TargetProps) {
  const { t } = useTranslation('identity/audit');
  const { type, id, label } = target;
  return (
    <>
      <Text size="sm" dir="auto" ta="start" lineClamp={2}>
        {label ?? id ?? '–'}
      </Text>
      <Text size="xs" c="dimmed">
        {type}
        {id !== null && (
          <Button size="compact-xs" variant="subtle" fw={400} onClick={() => onTarget(id)}>
            {t('only')}
          </Button>
        )}
      </Text>
    </>
  );
}

function ChangesButton({ entry, onOpen }: { entry: Entry; onOpen: () => void }) {
  const { t } = useTranslation('identity/audit');
  const count = Object.keys(entry.changes).length;
  const label = count === 0 ? t('no_changes') : t('changes', { count });
  return (
    <Button
      size="compact-sm"
      variant="subtle"
      aria-label={`${label}: ${t('show', { action: entry.action })}`}
      onClick={onOpen}
    >
      {label}
    </Button>
  );
}

function Details({ entry, onClose }: { entry: Entry; onClose: () => void }) {
  const { t } = useTranslation('identity/audit');
  const format = useFormat();
  const changes = listChanges(entry.changes);
  const facts = [
    [t('columns.at'), format.dateTime(entry.at)],
    [t('columns.actor'), entry.actor.label],
    [t('columns.target'), `${entry.target.type} ${entry.target.label ?? ''}`],
    [t('details.operation'), entry.operation],
    [t('details.address'), entry.ip_address],
    [t('details.request'), entry.request_id],
  ].filter(([, value]) => value !== null);
  return (
    <Dialog title={t('details.title', { action: entry.action })} onClose={onClose} size="lg">
      <Stack>
        <Table withRowBorders={false} layout="fixed">
          <Table.Tbody>
            {facts.map(([name, value]) => (
              <Table.Tr key={name}>
                <Table.Th fw={500} w="30%">
                  {name}
                </Table.Th>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  <bdi>{value}</bdi>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        {changes.length > 0 && <ChangesTable changes={changes} />}
      </Stack>
    </Dialog>
  );
}

function Value({ value }: { value: unknown }) {
  const { t } = useTranslation('identity/audit');
  const shown = showValue(value);
  const text =
    'text' in shown
      ? shown.text
      : 'secret' in shown
        ? t('details.secret')
        : t('details.large', { bytes: shown.bytes });
  return (
    <Text size="xs" dir="auto" ta="start" style={{ overflowWrap: 'anywhere' }}>
      {text}
    </Text>
  );
}

function ChangesTable({ changes }: { changes: readonly Change[] }) {
  const { t } = useTranslation('identity/audit');
  return (
    <DataTable
      label={t('columns.changes')}
      rows={changes}
      rowKey={({ member }) => member}
      minWidth={420}
      columns={[
        {
          key: 'member',
          title: t('details.member'),
          heads: true,
          cell: ({ member }) => <Code>{member}</Code>,
        },
        {
          key: 'before',
          title: t('details.before'),
          cell: ({ before }) => <Value value={before} />,
        },
        {
          key: 'after',
          title: t('details.after'),
          cell: ({ after }) => <Value value={after} />,
        },
      ]}
    />
  );
}
