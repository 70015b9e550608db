import { Badge, Button, Group, Paper, Select, Stack, Text, Title } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { usePeople } from '@/identity/pickers';
import { $api, api, unwrap } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { useFormat } from '@/kit/i18n/format';
import { useCursorList } from '@/kit/lists/useCursorList';
import { ChangeList } from './ChangeList';

type Version = Schemas['SchemaVersionSummary'];

function useVersions(schemaId: string) {
  const params = { path: { schema_id: schemaId }, query: { page_size: 50 } };
  return useCursorList<Version>({
    path: '/api/v1/schemas/{schema_id}/versions',
    params,
    fetch: (cursor, signal) => {
      const query = { ...params.query, ...(cursor !== undefined && { cursor }) };
      const init = { params: { path: params.path, query }, signal };
      return unwrap(api.GET('/api/v1/schemas/{schema_id}/versions', init));
    },
  });
}

/** The versions, newest first, and what differs between two of them. */
export function Versions({ schemaId }: { schemaId: string }) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const { version, against } = useSearch({ from: '/work/schemas/$schemaId' });
  const list = useVersions(schemaId);
  if (list.error) return <ErrorAlert error={list.error} retry={list.retry} />;
  if (list.isPending) return <Loading />;
  if (list.rows.length === 0) return <Text c="dimmed">{t('versions.none')}</Text>;
  const compared = list.rows.find(({ number }) => number === version);
  return (
    <Stack>
      {compared && (
        <Difference schemaId={schemaId} version={compared} against={against} versions={list.rows} />
      )}
      {list.rows.map((one) => (
        <VersionCard key={one.id} version={one} schemaId={schemaId} />
      ))}
      {list.hasMore && (
        <Button variant="default" loading={list.isFetching} onClick={list.loadMore}>
          {t('versions.more')}
        </Button>
      )}
    </Stack>
  );
}

function VersionCard({ version, schemaId }: { version: Version; schemaId: string }) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const format = useFormat();
  const people = usePeople();
  const who = people.name(version.published_by) ?? t('someone');
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between">
        <Group gap="xs">
          <Text fw={600}>{t('version', { number: version.number })}</Text>
          {version.breaking && (
            <Badge variant="dot" color="orange" tt="none">
              {t('breaking.badge')}
            </Badge>
          )}
          <Text size="sm" c="dimmed">
            {t('versions.published', {
              when: format.dateTime(version.published_at),
              who,
            })}
          </Text>
        </Group>
        <Button
          size="compact-sm"
          variant="default"
          component={Link}
          to="/schemas/$schemaId"
          params={{ schemaId } as never}
          search={{ tab: 'versions', version: version.number } as never}
        >
          {t('versions.compare')}
        </Button>
      </Group>
      {version.note !== null && (
        <Text size="sm" mt={4} dir="auto">
          {version.note}
        </Text>
      )}
      {version.changes && version.changes.length > 0 && (
        <Text size="xs" c="dimmed" mt={4}>
          {t('versions.changes', { count: version.changes.length })}
        </Text>
      )}
    </Paper>
  );
}

interface DifferenceProps {
  schemaId: string;
  version: Version;
  against: number | undefined;
  versions: readonly Version[];
}

function Difference({ schemaId, version, against, versions }: DifferenceProps) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const navigate = useNavigate();
  const other = versions.find(({ number }) => number === against);
  const { data, error, isPending } = $api.useQuery(
    'get',
    '/api/v1/schema-versions/{version_id}/diff',
    {
      params: {
        path: { version_id: version.id },
        query: other ? { against: other.id } : {},
      },
    },
    { staleTime: Infinity },
  );
  const change = (number: string | null) =>
    void navigate({
      to: '/schemas/$schemaId',
      params: { schemaId },
      search: {
        tab: 'versions',
        version: version.number,
        ...(number !== null && { against: Number(number) }),
      },
      replace: true,
    });
  const others = versions.filter(({ number }) => number !== version.number);
  const from = data?.data.from?.number;
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby="difference">
      <Stack gap="xs">
        <Group justify="space-between" align="flex-end">
          <Title order={2} size="h5" id="difference">
            {from === undefined
              ? t('versions.first', { number: version.number })
              : t('versions.difference', { from, to: version.number })}
          </Title>
          {others.length > 0 && (
            <Select
              label={t('versions.against')}
              size="xs"
              clearable
              data={others.map(({ number }) => ({
                value: String(number),
                label: t('version', { number }),
              }))}
              value={against === undefined ? null : String(against)}
              onChange={change}
            />
          )}
        </Group>
        <ErrorAlert error={error} />
        {isPending && <Loading />}
        {data && data.data.changes.length === 0 && <Text>{t('versions.same')}</Text>}
        {data && data.data.changes.length > 0 && <ChangeList changes={data.data.changes} />}
      </Stack>
    </Paper>
  );
}
