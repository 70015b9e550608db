import { Card, Group, Stack, Text, Title } from '@mantine/core';
import { useId } from '@mantine/hooks';
import { ChartNoAxesColumn } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { useFormat } from '@/kit/i18n/format';

function Figure({ label, value }: { label: string; value: string }) {
  return (
    <Group justify="space-between" wrap="nowrap" component="div">
      <Text size="sm" c="dimmed" component="dt">
        {label}
      </Text>
      <Text size="sm" fw={600} component="dd" m={0}>
        {value}
      </Text>
    </Group>
  );
}

/** What the caller did today, and in the 30 days that the API counts by default. */
export function Today() {
  const { t } = useTranslation('workflow/home');
  const { number, percent } = useFormat();
  const heading = useId();
  const query = $api.useQuery('get', '/api/v1/users/me/activity');
  const activity = query.data?.data;
  const today = activity?.days.at(-1);
  return (
    <Card withBorder component="section" aria-labelledby={heading}>
      <Stack gap="xs">
        <Group gap="xs">
          <ChartNoAxesColumn size={18} aria-hidden />
          <Title order={2} size="h5" id={heading}>
            {t('activity.title')}
          </Title>
        </Group>
        <ErrorAlert error={query.error} />
        {activity && (
          <Stack component="dl" gap={4} m={0}>
            <Figure label={t('activity.submitted_today')} value={number(today?.submitted ?? 0)} />
            <Figure label={t('activity.reviewed_today')} value={number(today?.reviewed ?? 0)} />
            <Figure label={t('activity.submitted')} value={number(activity.totals.submitted)} />
            {activity.acceptance_rate !== null && (
              <Figure label={t('activity.accepted')} value={percent(activity.acceptance_rate)} />
            )}
          </Stack>
        )}
      </Stack>
    </Card>
  );
}
