import { Center, Stack, Text, Title } from '@mantine/core';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

export interface EmptyStateProps {
  icon?: LucideIcon;
  title: string;
  description?: ReactNode;
  /** The button that changes it. */
  action?: ReactNode;
}

/** What a list shows that has nothing. A title alone is one line. */
export function EmptyState({ icon: Icon, title, description, action }: EmptyStateProps) {
  if (!Icon && description === undefined && action === undefined)
    return (
      <Text size="sm" c="dimmed" role="status">
        {title}
      </Text>
    );
  return (
    <Center py="xl">
      <Stack align="center" gap="xs" maw={440} ta="center" role="status">
        {Icon && <Icon size={32} strokeWidth={1.25} aria-hidden />}
        <Title order={2} size="h5">
          {title}
        </Title>
        {description !== undefined && (
          <Text size="sm" c="dimmed">
            {description}
          </Text>
        )}
        {action}
      </Stack>
    </Center>
  );
}
