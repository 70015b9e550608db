import { Badge, Button, Group, Table, Text } from '@mantine/core';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { Page } from '@/kit/components/Page';
import { useFormat } from '@/kit/i18n/format';
import { useKeys } from '@/kit/keys/keys';
import { Listing } from '@/kit/lists/Listing';
import { compact, hasFilter } from '@/kit/lists/search';
import { useMay } from '@/kit/session/may';
import { useSession } from '@/kit/session/store';
import { QueueFilters } from './QueueFilters';
import type { QueueSearch } from './routes';

const route = getRouteApi('/work/review');
const PAGE_SIZE = 50;

function toQuery(search: QueueSearch) {
  return {
    page_size: PAGE_SIZE,
    ...(search.schema === undefined ? {} : { schema_id: search.schema }),
    ...(search.labeler === undefined ? {} : { labeler_id: search.labeler }),
    ...(search.flag === undefined ? {} : { flag: search.flag }),
    ...(search.mine ? { mine: true } : {}),
    ...(search.escalated ? { escalated: true } : {}),
    ...(search.cursor === undefined ? {} : { cursor: search.cursor }),
  };
}

function Row({ item }: { item: Schemas['ReviewItem'] }) {
  const { t } = useTranslation('workflow/review');
  const format = useFormat();
  const me = useSession()?.user.id;
  const claimed = item.claim === null ? undefined : item.claim.user_id === me ? 'mine' : 'other';
  return (
    <Table.Tr>
      <Table.Td>
        <Text component={Link} to={`/review/${item.id}`} c="var(--mantine-color-anchor)" size="sm">
          <bdi>{item.artifact.name}</bdi>
        </Text>
      </Table.Td>
      <Table.Td>{item.schema.name}</Table.Td>
      <Table.Td>{item.tag_set.labeler?.name ?? '–'}</Table.Td>
      <Table.Td>{item.tag_set.submitted_at && format.relative(item.tag_set.submitted_at)}</Table.Td>
      <Table.Td>{item.due_at && format.dateTime(item.due_at)}</Table.Td>
      <Table.Td>
        <Group gap={4}>
          {item.escalated && (
            <Badge size="sm" variant="light" color="red">
              {t('escalated')}
            </Badge>
          )}
          {claimed && (
            <Badge size="sm" variant="light" color="gray">
              {t(`claimed.${claimed}`)}
            </Badge>
          )}
          {item.flags.map((flag) => (
            <Badge
              key={flag}
              size="sm"
              variant="light"
              color="orange"
              c="var(--mantine-color-text)"
            >
              {t(`flags.${flag}`)}
            </Badge>
          ))}
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

function Items({ items }: { items: readonly Schemas['ReviewItem'][] }) {
  const { t } = useTranslation('workflow/review');
  const headers = ['document', 'schema', 'labeler', 'submitted', 'due', 'notes'] as const;
  return (
    <Table.ScrollContainer minWidth={720}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            {headers.map((name) => (
              <Table.Th key={name}>{t(`columns.${name}`)}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((item) => (
            <Row key={item.id} item={item} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** What waits for review, most urgent first. */
export function QueuePage() {
  const { t } = useTranslation('workflow/review');
  const may = useMay();
  const navigate = useNavigate();
  const search = route.useSearch();
  const query = $api.useQuery('get', '/api/v1/review-queue', {
    params: { query: toQuery(search) },
  });
  const show = (cursor: string | undefined) =>
    void navigate({ to: '/review', search: compact({ ...search, cursor }) });
  const start = () => void navigate({ to: '/review/next' });
  const canWork = may('review_queue:work');
  useKeys(t('title'), [{ keys: 'n', text: t('next'), run: start, disabled: !canWork }]);
  return (
    <Page
      title={t('title')}
      actions={
        canWork && (
          <Button size="xs" onClick={start}>
            {t('next')}
          </Button>
        )
      }
    >
      <QueueFilters search={search} />
      <Listing
        query={query}
        cursor={search.cursor}
        onCursor={show}
        isFiltered={hasFilter(search)}
        empty={{ title: t('empty_queue') }}
      >
        {(rows) => <Items items={rows} />}
      </Listing>
    </Page>
  );
}
