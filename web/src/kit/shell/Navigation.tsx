import { NavLink, Stack, Text } from '@mantine/core';
import { Link, useRouterState } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useMay } from '@/kit/session/may';
import { GROUPS, type NavigationItem, shellParts } from './navigation';

function isActive(path: string, to: string): boolean {
  return to === '/' ? path === '/' : path === to || path.startsWith(`${to}/`);
}

function Item({ item, close }: { item: NavigationItem; close: () => void }) {
  const { t } = useTranslation();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const active = isActive(path, item.to);
  return (
    <NavLink
      component={Link}
      to={item.to}
      label={t(`navigation.${item.label}`)}
      leftSection={<item.icon size={16} aria-hidden />}
      active={active}
      aria-current={active ? 'page' : undefined}
      onClick={close}
      py={5}
    />
  );
}

/** The pages that the caller's role may see, in groups. */
export function Navigation({ close }: { close: () => void }) {
  const { t } = useTranslation();
  const may = useMay();
  const items = shellParts().navigation.filter(({ permission }) => !permission || may(permission));
  return (
    <Stack gap="sm">
      {GROUPS.map((group) => ({ group, own: items.filter((item) => item.group === group) }))
        .filter(({ own }) => own.length > 0)
        .map(({ group, own }) => (
          <div key={group}>
            {group !== 'work' && (
              <Text size="xs" c="dimmed" fw={600} px="sm" py={4}>
                {t(`navigation_groups.${group}`)}
              </Text>
            )}
            {own.map((item) => (
              <Item key={item.to} item={item} close={close} />
            ))}
          </div>
        ))}
    </Stack>
  );
}
