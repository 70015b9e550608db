import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { isRunning, type Job, JobsTable } from '@/intake/ingestion_jobs';
import { $api } from '@/kit/api/client';
import { pollRows } from '@/kit/api/polling';
import { JobProgress } from '@/kit/components/JobProgress';
import { Loaded } from '@/kit/components/Loaded';
import { Section } from '@/kit/components/Section';
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
      refetchInterval: pollRows<Job>(isRunning),
    },
  );
  return (
    <Section title={t('crawls.title')}>
      <Loaded query={query}>
        {({ data }) => {
          const running = data.find(isRunning);
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
