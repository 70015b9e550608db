import { Button, Stack, Text, Timeline } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { usePeople } from '@/identity/pickers';
import { api, unwrap } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { useCursorList } from '@/kit/lists/useCursorList';
import { useFormat } from '@/kit/i18n/format';
import { STATUSES } from '../search';
import { useSchemaList } from '@/schemas/artifact_schemas';
import { describeAction } from './actions';
import { showValue } from './values';

type Entry = Schemas['HistoryEntry'];

export function History({ id }: { id: string }) {
  const { t } = useTranslation('documents/artifacts');
  const params = { path: { artifact_id: id }, query: { page_size: 50 } };
  const history = useCursorList<Entry>({
    path: '/api/v1/artifacts/{artifact_id}/history',
    params,
    fetch: (cursor, signal) => {
      const query = { ...params.query, ...(cursor !== undefined && { cursor }) };
      const init = { params: { path: params.path, query }, signal };
      return unwrap(api.GET('/api/v1/artifacts/{artifact_id}/history', init));
    },
  });
  if (history.error) return <ErrorAlert error={history.error} retry={history.retry} />;
  if (history.isPending) return <Loading />;
  return (
    <Stack>
      <Timeline bulletSize={12} lineWidth={2} active={-1}>
        {history.rows.map((entry) => (
          <Item key={entry.id} entry={entry} />
        ))}
      </Timeline>
      {history.hasMore && (
        <Button variant="default" loading={history.isFetching} onClick={history.loadMore}>
          {t('history.more')}
        </Button>
      )}
    </Stack>
  );
}

/** Members of a change that say something to people. */
const SHOWN = [
  'status',
  'name',
  'schema_id',
  'assignees',
  'priority',
  'due_at',
  'claim_user_id',
  'labeler_id',
  'reviewer_id',
  'external_id',
  'gold',
  'archived',
] as const;
const PEOPLE: readonly string[] = ['claim_user_id', 'labeler_id', 'reviewer_id', 'assignees'];

function Item({ entry }: { entry: Entry }) {
  const { t } = useTranslation('documents/artifacts');
  const format = useFormat();
  const people = usePeople();
  const { actor, rule, note, field } = entry;
  const who =
    people.name(actor.id) ??
    (actor.kind === 'user' ? actor.label : t(`history.actor.${actor.kind}`));
  return (
    <Timeline.Item title={<Text size="sm">{describeAction(entry.action, t)}</Text>}>
      <Text size="xs" c="dimmed" dir="auto">
        {who} · <time dateTime={entry.at}>{format.dateTime(entry.at)}</time>
      </Text>
      {rule && <Text size="sm">{t('history.rule', { name: rule.name })}</Text>}
      {field !== null && <Text size="sm">{t('history.field', { field })}</Text>}
      {note !== null && (
        <Text size="sm" dir="auto">
          {note}
        </Text>
      )}
      <Changes entry={entry} />
    </Timeline.Item>
  );
}

function useShowChange() {
  const { t } = useTranslation('documents/artifacts');
  const format = useFormat();
  const people = usePeople();
  const schemas = useSchemaList();
  const showPerson = (value: unknown) => {
    if (typeof value === 'string') return people.name(value) ?? t('someone');
    const ids = Object.values(value as Record<string, string | null>);
    return people.name(ids.find((id) => id !== null)) ?? t('someone');
  };
  return (key: (typeof SHOWN)[number], value: unknown): string => {
    if (value === null || value === undefined) return '–';
    if (PEOPLE.includes(key))
      return (Array.isArray(value) ? value : [value]).map(showPerson).join(', ') || '–';
    if (typeof value === 'boolean') return t(value ? 'yes' : 'no');
    const status = STATUSES.find((known) => key === 'status' && known === value);
    if (status) return t(`status.${status}`);
    if (key === 'due_at') return format.dateTime(value as string);
    if (key === 'schema_id') return schemas.name(value as string) ?? '–';
    return showValue(value);
  };
}

function Changes({ entry }: { entry: Entry }) {
  const { t } = useTranslation('documents/artifacts');
  const show = useShowChange();
  if (entry.action === 'artifacts.create') return null;
  return SHOWN.filter((key) => key in entry.changes).map((key) => {
    const change: unknown = entry.changes[key];
    const [from, to] = Array.isArray(change) ? (change as unknown[]) : [undefined, change];
    return (
      <Text key={key} size="xs" c="dimmed" dir="auto">
        {t('history.change', {
          name: t(`history.member.${key}`),
          from: show(key, from),
          to: show(key, to),
        })}
      </Text>
    );
  });
}
