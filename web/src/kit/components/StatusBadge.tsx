import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';

const COLORS = {
  neutral: 'gray',
  active: 'blue',
  good: 'teal',
  warning: 'yellow',
  bad: 'red',
} as const;

export type Tone = keyof typeof COLORS;

/** A state in one word. The text says it; the color only helps. */
export function StatusBadge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <Badge
      component="span"
      variant="light"
      color={COLORS[tone]}
      tt="none"
      fw={500}
      radius="sm"
      c="var(--mantine-color-text)"
      miw="max-content"
    >
      {children}
    </Badge>
  );
}
