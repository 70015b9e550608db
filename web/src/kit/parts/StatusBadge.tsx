import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';

export type Tone = 'neutral' | 'active' | 'good' | 'warning' | 'bad';

const COLORS: Record<Tone, string> = {
  neutral: 'gray',
  active: 'blue',
  good: 'teal',
  warning: 'yellow',
  bad: 'red',
};

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
