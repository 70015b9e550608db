import { ActionIcon, Menu, Text } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { CircleUserRound, LogOut } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { currentRole } from '@/kit/session/may';
import { useSession } from '@/kit/session/store';
import { signOut } from '@/kit/session/switching';
import { shellParts } from './navigation';

export function UserMenu() {
  const { t } = useTranslation();
  const router = useRouter();
  const user = useSession()?.user;
  const role = currentRole();
  if (!user) return null;
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={t('shell.account', { name: user.name })}
        >
          <CircleUserRound size={20} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} truncate dir="auto" c="var(--mantine-color-text)">
            {user.name}
          </Text>
          <Text size="xs" truncate>
            {user.email}
          </Text>
          {role !== undefined && <Text size="xs">{t(`roles.${role as 'viewer'}`)}</Text>}
        </Menu.Label>
        <Menu.Divider />
        {shellParts().account.map(({ to, label, icon: Icon }) => (
          <Menu.Item
            key={to}
            leftSection={<Icon size={16} />}
            onClick={() => void router.navigate({ to })}
          >
            {t(`navigation.${label}`)}
          </Menu.Item>
        ))}
        <Menu.Item leftSection={<LogOut size={16} />} onClick={() => void signOut(router)}>
          {t('shell.sign_out')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
