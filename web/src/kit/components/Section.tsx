import { Group, Stack, Text, Title } from '@mantine/core';
import { useId, type ReactNode } from 'react';
import { Part } from './Part';

export interface SectionProps {
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A part of a page under a heading of the second level. */
export function Section({ title, description, actions, children }: SectionProps) {
  const id = useId();
  return (
    <Stack component="section" gap="sm" aria-labelledby={id}>
      <Group justify="space-between" align="flex-start" gap="xs">
        <Stack gap={2}>
          <Title order={2} size="h5" id={id}>
            {title}
          </Title>
          {description !== undefined && (
            <Text size="sm" c="dimmed" component="div">
              {description}
            </Text>
          )}
        </Stack>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      <Part>{children}</Part>
    </Stack>
  );
}
