import { Anchor, Paper, Stack, Text, Title } from '@mantine/core';
import { useId } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { useFormat } from '@/kit/i18n/format';
import { useSession } from '@/kit/session/store';
import { documentAddress } from './addresses';

const SHOWN = 5;

/** The caller's labels that a reviewer rejected, with the reason. Nothing if there are none. */
export function SentBack() {
  const { t } = useTranslation('workflow/home');
  const { relative } = useFormat();
  const heading = useId();
  const userId = useSession()?.user.id;
  const query = $api.useQuery('get', '/api/v1/tag-sets', {
    params: {
      query: {
        status: ['rejected'],
        labeler_id: userId,
        sort: '-updated_at',
        page_size: SHOWN,
      },
    },
  });
  const found = query.data?.data ?? [];
  if (found.length === 0) return null;
  return (
    <Stack component="section" gap="xs" aria-labelledby={heading}>
      <Title order={2} size="h5" id={heading}>
        {t('sent_back.title', { count: query.data?.meta.total ?? found.length })}
      </Title>
      {found.map(({ id, artifact_id: artifactId, reason, decided_at: decidedAt, reviewer }) => (
        <Paper key={id} withBorder px="sm" py={6}>
          <Anchor component={Link} to={documentAddress(artifactId)} size="sm" dir="auto">
            {reason ?? t('sent_back.no_reason')}
          </Anchor>
          <Text size="xs" c="dimmed">
            {reviewer && <bdi>{reviewer.name}</bdi>}
            {decidedAt !== null && ` · ${relative(decidedAt)}`}
          </Text>
        </Paper>
      ))}
    </Stack>
  );
}
