import { Anchor, Badge, Group, SegmentedControl, Stack, Table, Text, Title } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { useFormat } from '@/kit/i18n/format';
import { Pager } from '@/kit/lists/Pager';
import { useMay } from '@/kit/session/may';
import { documentAddress, reviewAddress } from './addresses';
import type { HomeSearch } from './routes';

type Assignment = Schemas['Assignment'];

const PAGE_SIZE = 25;
const URGENT = 75;

function Row({ assignment }: { assignment: Assignment }) {
  const { t } = useTranslation('workflow/home');
  const { relative, dateTime } = useFormat();
  const { kind, artifact, schema, tag_set_id: tagSetId, due_at: dueAt, overdue } = assignment;
  const isReview = kind === 'review' && tagSetId !== null;
  const state =
    assignment.claimed_until !== null
      ? 'claimed'
      : isReview || tagSetId === null
        ? 'assigned'
        : 'draft';
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor
          component={Link}
          to={isReview ? reviewAddress(tagSetId) : documentAddress(artifact.id)}
          size="sm"
        >
          <bdi>{artifact.name}</bdi>
        </Anchor>
        {assignment.priority >= URGENT && (
          <Badge color="orange.9" variant="outline" size="sm" ms="xs">
            {t('urgent')}
          </Badge>
        )}
      </Table.Td>
      <Table.Td>{t(`kind.${kind}`)}</Table.Td>
      <Table.Td>{schema && <bdi>{schema.name}</bdi>}</Table.Td>
      <Table.Td>{t(`state.${state}`)}</Table.Td>
      <Table.Td>
        {dueAt !== null && (
          <Text
            size="sm"
            c={overdue ? 'var(--mantine-color-error)' : undefined}
            title={dateTime(dueAt)}
          >
            {relative(dueAt)}
          </Text>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

interface FilterProps {
  kind: HomeSearch['kind'];
  change: (kind: HomeSearch['kind']) => void;
}

function KindFilter({ kind, change }: FilterProps) {
  const { t } = useTranslation('workflow/home');
  return (
    <SegmentedControl
      size="xs"
      aria-label={t('kind.title')}
      data={[
        { value: 'all', label: t('kind.all') },
        { value: 'label', label: t('kind.label') },
        { value: 'review', label: t('kind.review') },
      ]}
      value={kind ?? 'all'}
      onChange={(value) => change(value === 'all' ? undefined : value)}
    />
  );
}

/** What the caller should label or review, most urgent first. */
export function AssignmentTable() {
  const { t } = useTranslation('workflow/home');
  const { t: tKit } = useTranslation();
  const may = useMay();
  const { kind, cursor } = useSearch({ from: '/work/' });
  const navigate = useNavigate({ from: '/' });
  const query = $api.useQuery('get', '/api/v1/users/me/assignments', {
    params: { query: { kind, cursor, page_size: PAGE_SIZE } },
  });
  const show = (search: HomeSearch) => void navigate({ search });
  return (
    <Stack component="section" gap="xs" aria-label={t('assigned')}>
      <Group justify="space-between">
        <Title order={2} size="h5">
          {t('assigned')}
        </Title>
        {may('review_queue:work') && (
          <KindFilter kind={kind} change={(next) => show({ kind: next })} />
        )}
      </Group>
      <ErrorAlert error={query.error} retry={() => void query.refetch()} />
      {query.isPending && <Loading />}
      {query.data?.data.length === 0 && (
        <Text size="sm">
          {kind === undefined ? t('nothing_assigned') : tKit('list.none_match')}
        </Text>
      )}
      {query.data !== undefined && query.data.data.length > 0 && (
        <Table.ScrollContainer minWidth={560}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('column.document')}</Table.Th>
                <Table.Th>{t('column.kind')}</Table.Th>
                <Table.Th>{t('column.schema')}</Table.Th>
                <Table.Th>{t('column.state')}</Table.Th>
                <Table.Th>{t('column.due')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {query.data.data.map((assignment) => (
                <Row key={`${assignment.kind}${assignment.id}`} assignment={assignment} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {query.data && (
        <Pager
          meta={query.data.meta}
          cursor={cursor}
          onCursor={(next) => show({ kind, cursor: next })}
        />
      )}
    </Stack>
  );
}
