import { Group, Text, UnstyledButton } from '@mantine/core';
import { Link, useRouterState } from '@tanstack/react-router';
import type { ComponentProps } from 'react';

interface Tab {
  to: NonNullable<ComponentProps<typeof Link>['to']>;
  title: string;
}

interface Props {
  label: string;
  tabs: readonly Tab[];
}

/** Links between the pages that share one item of the navigation. */
export function PageTabs({ label, tabs }: Props) {
  const path = useRouterState({ select: (state) => state.location.pathname });
  return (
    <Group
      component="nav"
      aria-label={label}
      gap="lg"
      style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}
    >
      {tabs.map(({ to, title }) => (
        <UnstyledButton
          key={to}
          component={Link}
          to={to}
          aria-current={path === to ? 'page' : undefined}
          py={6}
          style={{
            borderBottom: `2px solid ${path === to ? 'var(--mantine-primary-color-filled)' : 'transparent'}`,
            marginBottom: -1,
          }}
        >
          <Text size="sm" fw={path === to ? 600 : 400}>
            {title}
          </Text>
        </UnstyledButton>
      ))}
    </Group>
  );
}
