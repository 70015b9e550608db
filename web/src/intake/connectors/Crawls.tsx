import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { isPending, JobProgress, JobsTable } from '@/intake/ingestion_jobs';
import { $api } from '@/kit/api/client';
import { pollWhile } from '@/kit/api/polling';
import { Loaded } from '@/kit/parts/Loaded';
import { Section } from '@/kit/parts/Section';
import type { Connector } from './values';

/** The latest crawls, and the progress of the one that runs. */
export function Crawls({ connector }: { connector: Connector }) {
  const { t } = useTranslation('intake/connectors');
  const query = $api.useQuery(
    'get',
    '/api/v1/ingestion-jobs',
    {
      params: {
        query: { connector_id: connector.id, sort: '-created_at', page_size: 10 },
      },
    },
    {
      refetchInterval: (polled) =>
        pollWhile(
          polled,
          polled.state.data?.data.some((job) => isPending(job.status)),
        ),
    },
  );
  return (
    <Section title={t('crawls.title')}>
      <Loaded query={query}>
        {({ data }) => {
          const running = data.find((job) => isPending(job.status));
          if (data.length === 0)
            return (
              <Text size="sm" c="dimmed">
                {t('crawls.none')}
              </Text>
            );
          return (
            <Stack gap="sm">
              {running && <JobProgress progress={running.progress} />}
              <JobsTable jobs={data} label={t('crawls.title')} />
            </Stack>
          );
        }}
      </Loaded>
    </Section>
  );
}
