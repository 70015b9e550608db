import { Group, Text, UnstyledButton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ComponentProps } from 'react';

export interface PageTab {
  to: NonNullable<ComponentProps<typeof Link>['to']>;
  text: string;
  active: boolean;
}

/** Links between the pages of one area. */
export function PageTabs({ label, tabs }: { label: string; tabs: readonly PageTab[] }) {
  return (
    <Group
      component="nav"
      aria-label={label}
      gap="lg"
      style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}
    >
      {tabs.map(({ to, text, active }) => (
        <UnstyledButton
          key={to}
          component={Link}
          to={to}
          aria-current={active ? 'page' : undefined}
          py={6}
          style={{
            borderBottom: `2px solid ${active ? 'var(--mantine-primary-color-filled)' : 'transparent'}`,
            marginBottom: -1,
          }}
        >
          <Text size="sm" fw={active ? 600 : 400}>
            {text}
          </Text>
        </UnstyledButton>
      ))}
    </Group>
  );
}
