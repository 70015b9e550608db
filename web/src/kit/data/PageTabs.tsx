import { Button, Group } from '@mantine/core';
import { Link, useRouterState } from '@tanstack/react-router';

interface Props {
  label: string;
  tabs: readonly { to: string; title: string }[];
}

/** Links to the pages that share one item of the navigation. */
export function PageTabs({ label, tabs }: Props) {
  const path = useRouterState({ select: (state) => state.location.pathname });
  return (
    <Group component="nav" gap={4} aria-label={label}>
      {tabs.map(({ to, title }) => (
        <Button
          key={to}
          component={Link}
          to={to}
          size="compact-md"
          fw={path === to ? 600 : 400}
          variant={path === to ? 'light' : 'subtle'}
          color={path === to ? 'blue' : 'gray'}
          c={path === to ? undefined : 'var(--mantine-color-text)'}
          aria-current={path === to ? 'page' : undefined}
        >
          {title}
        </Button>
      ))}
    </Group>
  );
}
