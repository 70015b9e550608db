import { Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { Relative } from '@/kit/components/Relative';
import { StatusBadge, type Tone } from '@/kit/components/StatusBadge';

type Crawl = Schemas['LastCrawl'];

const TONES: Record<Crawl['status'], Tone> = {
  queued: 'neutral',
  running: 'active',
  completed: 'good',
  completed_with_errors: 'warning',
  failed: 'bad',
  cancelled: 'neutral',
};

/** How the last crawl went, and when. */
export function CrawlBadge({ crawl }: { crawl: Crawl }) {
  const { t } = useTranslation('intake/connectors');
  return (
    <Group gap={6}>
      <StatusBadge tone={TONES[crawl.status]}>{t(`crawls.${crawl.status}`)}</StatusBadge>
      <Relative value={crawl.at} />
    </Group>
  );
}
