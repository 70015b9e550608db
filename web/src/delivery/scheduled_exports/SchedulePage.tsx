import { Anchor, Stack, Text } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { RequestFacts } from '@/delivery/exports';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { Facts } from '@/kit/components/Facts';
import { Loaded } from '@/kit/components/Loaded';
import { Page } from '@/kit/components/Page';
import { Section } from '@/kit/components/Section';
import { StatusBadge } from '@/kit/components/StatusBadge';
import { useFormat } from '@/kit/i18n/format';
import { NextRuns } from '@/kit/schedules/ScheduleBuilder';
import { useScheduleWords } from '@/kit/schedules/useScheduleWords';
import { Actions } from './Actions';
import { Runs } from './Runs';

type Scheduled = Schemas['ScheduledExport'];

export function SchedulePage() {
  const { t } = useTranslation('delivery/scheduled_exports');
  const { scheduleId } = useParams({ from: '/work/exports/schedules/$scheduleId' });
  const query = $api.useQuery('get', '/api/v1/exports/scheduled/{export_id}', {
    params: { path: { export_id: scheduleId } },
  });
  const scheduled = query.data?.data;
  return (
    <Page
      title={scheduled?.name ?? t('one')}
      description={
        <Anchor component={Link} to="/exports/schedules" inherit>
          {t('title')}
        </Anchor>
      }
      actions={scheduled && <Actions scheduled={scheduled} />}
    >
      <Loaded query={query}>{({ data }) => <Details scheduled={data} />}</Loaded>
    </Page>
  );
}

function Details({ scheduled }: { scheduled: Scheduled }) {
  const { t } = useTranslation('delivery/scheduled_exports');
  const words = useScheduleWords();
  return (
    <Stack gap="lg">
      {scheduled.paused ? (
        <Stack gap={4} align="flex-start">
          <StatusBadge tone="warning">{t('paused')}</StatusBadge>
          <Text size="sm">{words(scheduled.cron, scheduled.time_zone)}</Text>
        </Stack>
      ) : (
        <NextRuns cron={scheduled.cron} timeZone={scheduled.time_zone} />
      )}
      <ScheduleFacts scheduled={scheduled} />
      <Section title={t('content')}>
        <RequestFacts of={scheduled} />
      </Section>
      <Runs scheduled={scheduled} />
    </Stack>
  );
}

function ScheduleFacts({ scheduled }: { scheduled: Scheduled }) {
  const { t } = useTranslation('delivery/scheduled_exports');
  const format = useFormat();
  const { kind, settings } = scheduled.destination;
  const address = settings['bucket'] ?? settings['host'] ?? settings['url'];
  return (
    <Facts
      facts={[
        { label: t('mode'), value: t(`modes.${scheduled.mode}`) },
        {
          label: t('destination'),
          value:
            typeof address === 'string' ? `${t(`kinds.${kind}`)}: ${address}` : t(`kinds.${kind}`),
        },
        {
          label: t('exported_until'),
          value: scheduled.exported_until && format.dateTime(scheduled.exported_until),
        },
      ]}
    />
  );
}
