import { Stack, Text, Title } from '@mantine/core';
import { useId } from '@mantine/hooks';
import type { ReactNode } from 'react';

interface Props {
  title: string;
  description?: string;
  children: ReactNode;
}

/** A part of a page with a heading of its own. */
export function Section({ title, description, children }: Props) {
  const id = useId();
  return (
    <Stack component="section" gap="sm" aria-labelledby={id}>
      <div>
        <Title order={2} size="h5" id={id}>
          {title}
        </Title>
        {description !== undefined && (
          <Text size="sm" c="dimmed">
            {description}
          </Text>
        )}
      </div>
      {children}
    </Stack>
  );
}
