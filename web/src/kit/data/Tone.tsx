import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';

const COLORS = {
  good: 'green',
  bad: 'red',
  warn: 'yellow',
  info: 'blue',
  neutral: 'gray',
} as const;

interface Props {
  tone: keyof typeof COLORS;
  children: ReactNode;
}

/** A state in one word, with a colour that only repeats what the word says. */
export function Tone({ tone, children }: Props) {
  const color = COLORS[tone];
  return (
    <Badge
      size="sm"
      tt="none"
      fw={500}
      style={{
        backgroundColor: `light-dark(var(--mantine-color-${color}-1), color-mix(in srgb, var(--mantine-color-${color}-8) 35%, transparent))`,
        color: `light-dark(color-mix(in srgb, var(--mantine-color-${color}-9) 60%, black), var(--mantine-color-${color}-2))`,
      }}
    >
      {children}
    </Badge>
  );
}
