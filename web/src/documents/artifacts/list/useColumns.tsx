import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { usePeople } from '@/identity/pickers';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';
import { useSchemaList } from '@/schemas/artifact_schemas';
import { Marked } from '../Marked';
import { StatusBadge } from '../StatusBadge';
import type { ArtifactSummary } from '../useDocuments';
import { DueTime } from './DueTime';
import { Snippet } from './Snippet';
import styles from './list.module.css';

interface NameProps {
  row: ArtifactSummary;
  phrases: readonly string[][];
  q: string | undefined;
  schema: string | undefined;
}

function NameCell({ row, phrases, q, schema }: NameProps) {
  const { t } = useTranslation('documents/artifacts');
  return (
    <div className={styles.name}>
      <Link
        to="/documents/$artifactId"
        params={{ artifactId: row.id }}
        search={q === undefined ? {} : { q }}
        className={styles.link}
        dir="auto"
        title={row.name}
      >
        <Marked text={row.name} phrases={phrases} />
      </Link>
      {phrases.length > 0 && <Snippet row={row} phrases={phrases} />}
      <span className={styles.second}>
        <span className={styles.narrow}>
          <StatusBadge status={row.status} />
        </span>
        {phrases.length === 0 && <span dir="auto">{schema ?? t('no_schema')}</span>}
        {row.archived && <span>· {t('archived')}</span>}
        {row.gold && <span>· {t('gold')}</span>}
      </span>
    </div>
  );
}

type NameOf = ReturnType<typeof usePeople>['name'];

/** The lookup of names is not the cell's own: a long list has thousands of cells. */
function Assignees({ row, nameOf }: { row: ArtifactSummary; nameOf: NameOf }) {
  const { t } = useTranslation('documents/artifacts');
  const names = row.assignees.map(
    ({ user_id, team_id }) => nameOf(user_id ?? team_id) ?? t('someone'),
  );
  if (names.length === 0)
    return (
      <Text component="span" size="sm" c="dimmed">
        –
      </Text>
    );
  return (
    <span dir="auto" title={names.join(', ')}>
      {names.join(', ')}
    </span>
  );
}

function Created({ row }: { row: ArtifactSummary }) {
  const format = useFormat();
  return (
    <time dateTime={row.created_at} title={format.dateTime(row.created_at)}>
      {format.relative(row.created_at)}
    </time>
  );
}

export function useColumns(phrases: readonly string[][], q: string | undefined) {
  const { t } = useTranslation('documents/artifacts');
  const { name } = useSchemaList();
  const { name: nameOf } = usePeople();
  return useMemo<Column<ArtifactSummary>[]>(
    () => [
      {
        key: 'name',
        title: t('column.name'),
        sort: 'name',
        cell: (row) => <NameCell row={row} phrases={phrases} q={q} schema={name(row.schema_id)} />,
      },
      {
        key: 'status',
        title: t('column.status'),
        width: 130,
        hideBelow: 'sm',
        cell: (row) => <StatusBadge status={row.status} />,
      },
      {
        key: 'assignees',
        title: t('column.assignees'),
        width: 150,
        hideBelow: 'md',
        cell: (row) => <Assignees row={row} nameOf={nameOf} />,
      },
      {
        key: 'priority',
        title: t('column.priority'),
        sort: 'priority',
        width: 90,
        hideBelow: 'md',
        cell: (row) => row.priority,
      },
      {
        key: 'due',
        title: t('column.due'),
        width: 130,
        hideBelow: 'md',
        cell: (row) => <DueTime row={row} />,
      },
      {
        key: 'created',
        title: t('column.created'),
        sort: 'created_at',
        width: 130,
        hideBelow: 'sm',
        cell: (row) => <Created row={row} />,
      },
    ],
    [t, phrases, q, name, nameOf],
  );
}
