import { Box, Group, Stack, Text, Tooltip } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { useFormat } from '@/kit/i18n/format';
import classes from './Rate.module.css';

interface Props {
  rate: Schemas['QualityRate'];
}

/** A rate with the interval that it lies in, and how many cases are behind it. */
export function Rate({ rate }: Props) {
  const { t } = useTranslation('insight/figures');
  const format = useFormat();
  if (rate.value === null)
    return (
      <Text size="sm" c="dimmed">
        –
      </Text>
    );
  const low = rate.ci_low ?? rate.value;
  const high = rate.ci_high ?? rate.value;
  const cases = t('cases', { count: rate.n, formatted: format.number(rate.n) });
  const interval = t('interval', { low: format.percent(low), high: format.percent(high) });
  return (
    <Tooltip label={`${interval} · ${cases}`}>
      <Stack gap={2} miw={90} display="inline-flex">
        <Group gap={6} wrap="nowrap" align="baseline">
          <Text size="sm" fw={600}>
            {format.percent(rate.value, 1)}
          </Text>
          <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
            {cases}
          </Text>
        </Group>
        <RateBar value={rate.value} low={low} high={high} />
      </Stack>
    </Tooltip>
  );
}

interface BarProps {
  value: number;
  low: number;
  high: number;
}

const percent = (share: number) => `${Math.min(Math.max(share, 0), 1) * 100}%`;

/** The place of a share between 0 and 1, with its interval as a wider line. */
export function RateBar({ value, low, high }: BarProps) {
  return (
    <Box className={classes['track']} aria-hidden>
      <Box
        className={classes['interval']}
        style={{ insetInlineStart: percent(low), width: percent(high - low) }}
      />
      <Box className={classes['value']} style={{ insetInlineStart: percent(value) }} />
    </Box>
  );
}
