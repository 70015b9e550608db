import { Badge, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Section } from '@/kit/components/Section';
import { useFormat } from '@/kit/i18n/format';

const LIST = '/api/v1/auth/sessions';

function Session({ session, end }: { session: Schemas['ActiveSession']; end: () => void }) {
  const { t } = useTranslation('identity/profile');
  const { dateTime, relative } = useFormat();
  const { user_agent: agent, ip_address: address, issued_at: issuedAt, current } = session;
  return (
    <Paper withBorder px="sm" py={6}>
      <Group justify="space-between" wrap="nowrap">
        <div style={{ minWidth: 0 }}>
          <Text size="sm" lineClamp={1}>
            {agent ?? t('sessions.unknown')}
          </Text>
          <Text size="xs" c="dimmed">
            {address !== null && `${address} · `}
            {t('sessions.since', { date: dateTime(issuedAt) })}
            {` · ${t('sessions.seen', { time: relative(session.last_seen_at) })}`}
          </Text>
        </div>
        {current ? (
          <Badge variant="outline" color="gray" miw="fit-content" tt="none">
            {t('sessions.current')}
          </Badge>
        ) : (
          <Button size="compact-sm" variant="default" style={{ flexShrink: 0 }} onClick={end}>
            {t('sessions.end')}
          </Button>
        )}
      </Group>
    </Paper>
  );
}

/** Where the caller is signed in; any session but this one can be ended here. */
export function SessionsSection() {
  const { t } = useTranslation('identity/profile');
  const client = useQueryClient();
  const query = $api.useQuery('get', LIST);
  const revoke = $api.useMutation('delete', '/api/v1/auth/sessions/{session_id}', {
    onSettled: () => client.invalidateQueries({ queryKey: ['get', LIST] }),
  });
  return (
    <Section title={t('sessions.title')}>
      <ErrorAlert error={query.error ?? revoke.error} />
      <Stack gap={6}>
        {query.data?.data.map((session) => (
          <Session
            key={session.id}
            session={session}
            end={() => revoke.mutate({ params: { path: { session_id: session.id } } })}
          />
        ))}
      </Stack>
    </Section>
  );
}
