import { Badge, Group, Paper, Stack, Text } from '@mantine/core';
import { MessageSquare } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { useFormat } from '@/kit/i18n/format';
import type { Artifact } from '../useDocuments';
import { TagTable } from './TagTable';

const COLORS = { draft: 'gray', submitted: 'grape', accepted: 'teal', rejected: 'red' } as const;

/** The label sets of a document that the caller may see. */
export function TagSets({ row }: { row: Artifact }) {
  const { t } = useTranslation('documents/artifacts');
  const { data, error, isPending } = $api.useQuery('get', '/api/v1/tag-sets', {
    params: { query: { artifact_id: row.id, page_size: 50, sort: '-updated_at' } },
  });
  if (error) return <ErrorAlert error={error} />;
  if (isPending) return <Loading />;
  if (data.data.length === 0) return <Text c="dimmed">{t('labels.none')}</Text>;
  return (
    <Stack>
      {data.data.map((tagSet) => (
        <TagSet key={tagSet.id} tagSet={tagSet} />
      ))}
    </Stack>
  );
}

function TagSet({ tagSet }: { tagSet: Schemas['TagSetSummary'] }) {
  const { t } = useTranslation('documents/artifacts');
  const format = useFormat();
  const { status, labeler, reviewer, source } = tagSet;
  const who = labeler?.name ?? t(`labels.source.${source}`);
  return (
    <Paper withBorder p="sm">
      <Stack gap="xs">
        <Group gap="xs">
          <Badge variant="dot" color={COLORS[status]} tt="none">
            {t(`labels.status.${status}`)}
          </Badge>
          <Text size="sm" dir="auto">
            {reviewer ? t('labels.reviewed', { who, reviewer: reviewer.name }) : who}
          </Text>
          <Text size="xs" c="dimmed">
            {format.relative(tagSet.updated_at)}
          </Text>
          {tagSet.comment_count > 0 && (
            <Group gap={4} c="dimmed">
              <MessageSquare size={14} aria-hidden />
              <Text size="xs">{t('labels.comments', { count: tagSet.comment_count })}</Text>
            </Group>
          )}
        </Group>
        {tagSet.reason !== null && (
          <Text size="sm" dir="auto">
            {t('labels.reason', { reason: tagSet.reason })}
          </Text>
        )}
        <TagTable tagSet={tagSet} />
      </Stack>
    </Paper>
  );
}
