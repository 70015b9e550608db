import { Button, Card, Group, Stack, Text, Title } from '@mantine/core';
import { useId } from '@mantine/hooks';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Keys } from '@/kit/keys/KeysOverlay';

interface Props {
  title: string;
  icon: LucideIcon;
  children: ReactNode;
  button: string;
  keys: string;
  start: () => void;
  isPending: boolean;
  /** Said when there was nothing to start. */
  nothing: string | undefined;
  error: unknown;
}

/** A card with one button, which a key presses, too. */
export function StartCard({
  title,
  icon: Icon,
  children,
  button,
  keys,
  start,
  isPending,
  nothing,
  error,
}: Props) {
  const heading = useId();
  return (
    <Card withBorder component="section" aria-labelledby={heading}>
      <Stack gap="xs" h="100%">
        <Group gap="xs">
          <Icon size={18} aria-hidden />
          <Title order={2} size="h5" id={heading}>
            {title}
          </Title>
        </Group>
        <Text size="sm" c="dimmed" component="div" flex={1}>
          {children}
        </Text>
        {nothing !== undefined && (
          <Text size="sm" role="status">
            {nothing}
          </Text>
        )}
        <ErrorAlert error={error} />
        <Button
          onClick={start}
          loading={isPending}
          rightSection={<Keys keys={keys} />}
          justify="space-between"
        >
          {button}
        </Button>
      </Stack>
    </Card>
  );
}
