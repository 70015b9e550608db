import { Button, Menu, Text } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { Check, ChevronsUpDown } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useSession } from '@/kit/session/store';
import { switchOrganization } from '@/kit/session/switching';
import { useOrganization } from './room';

export function OrganizationMenu() {
  const { t } = useTranslation();
  const router = useRouter();
  const session = useSession();
  const slug = useOrganization();
  const organizations = session?.organizations ?? [];
  const name = organizations.find((one) => one.slug === slug)?.name ?? slug;
  if (organizations.length < 2) {
    return (
      <Text fw={600} truncate dir="auto">
        {name}
      </Text>
    );
  }
  return (
    <Menu position="bottom-start" width={260}>
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          size="compact-md"
          rightSection={<ChevronsUpDown size={14} />}
          aria-label={t('shell.organization', { name })}
        >
          <Text fw={600} truncate dir="auto" maw={{ base: 120, xs: 260 }}>
            {name}
          </Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('shell.organizations')}</Menu.Label>
        {organizations.map((one) => (
          <Menu.Item
            key={one.slug}
            rightSection={one.slug === slug && <Check size={14} />}
            onClick={() => void switchOrganization(router, one.slug)}
          >
            <span dir="auto">{one.name}</span>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
