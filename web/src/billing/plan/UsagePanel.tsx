import { Group, Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Panel } from '@/kit/components/Panel';
import { StatusBadge } from '@/kit/components/StatusBadge';
import { useFormat } from '@/kit/i18n/format';
import { fromPeriod } from '@/kit/lists/days';
import { LoadingRows } from '@/kit/lists/Listing';
import { usedShare, writeQuantity } from './meters';

const COLORS = { near_limit: 'yellow.7', limit_reached: 'red.8' } as const;

/** What is used of each limit of the plan. */
export function UsagePanel() {
  const { t } = useTranslation('billing/plan');
  const format = useFormat();
  const query = $api.useQuery('get', '/api/v1/billing/usage');
  const usage = query.data?.data;
  const period = usage && fromPeriod(usage.period);
  return (
    <Panel
      title={t('usage.title')}
      {...(period && {
        description: t('usage.period', {
          from: format.date(`${period.from}T12:00`),
          to: format.date(`${period.to}T12:00`),
        }),
      })}
    >
      <ErrorAlert error={query.error} retry={() => void query.refetch()} />
      {query.isPending && <LoadingRows rows={3} />}
      {usage && (
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="lg">
          {usage.meters.map((meter) => (
            <MeterBar key={meter.meter} usage={meter} />
          ))}
        </SimpleGrid>
      )}
    </Panel>
  );
}

function MeterBar({ usage }: { usage: Schemas['MeterUsage'] }) {
  const { t } = useTranslation('billing/plan');
  const format = useFormat();
  const { meter, used, limit, warning } = usage;
  const name = t(`meters.${meter}`);
  const quantity = writeQuantity(format, meter, used);
  return (
    <Stack gap={4}>
      <Group justify="space-between" gap="xs">
        <Text size="sm">{name}</Text>
        {warning !== null && (
          <StatusBadge tone={warning === 'limit_reached' ? 'bad' : 'warning'}>
            {t(`usage.${warning}`)}
          </StatusBadge>
        )}
      </Group>
      {limit !== null && (
        <Progress
          value={usedShare(used, limit)}
          color={warning === null ? 'blue.8' : COLORS[warning]}
          aria-label={name}
        />
      )}
      <Text size="xs" c="dimmed">
        {limit === null
          ? t('usage.no_limit', { used: quantity })
          : t('usage.of', { used: quantity, limit: writeQuantity(format, meter, limit) })}
      </Text>
    </Stack>
  );
}
