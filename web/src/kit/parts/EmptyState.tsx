import { Center, Stack, Text, Title } from '@mantine/core';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

interface Props {
  icon: LucideIcon;
  title: string;
  text?: string;
  /** The button that changes it. */
  action?: ReactNode;
}

/** What a list shows that has nothing. */
export function EmptyState({ icon: Icon, title, text, action }: Props) {
  return (
    <Center py="xl">
      <Stack align="center" gap="xs" maw={440} ta="center">
        <Icon size={32} strokeWidth={1.25} aria-hidden />
        <Title order={2} size="h5">
          {title}
        </Title>
        {text !== undefined && (
          <Text size="sm" c="dimmed">
            {text}
          </Text>
        )}
        {action}
      </Stack>
    </Center>
  );
}
