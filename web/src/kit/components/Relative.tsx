import { Text, Tooltip } from '@mantine/core';
import { useFormat } from '@/kit/i18n/format';

/** A time as "2 hours ago"; the exact time is shown on it. */
export function Relative({ value }: { value: string | null }) {
  const format = useFormat();
  if (value === null)
    return (
      <Text span inherit c="dimmed">
        –
      </Text>
    );
  return (
    <Tooltip label={format.dateTime(value)}>
      <time dateTime={value}>{format.relative(value)}</time>
    </Tooltip>
  );
}
