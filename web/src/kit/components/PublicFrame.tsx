import { Center, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ColorSchemeButton } from '@/kit/shell/ColorSchemeButton';
import { LanguageMenu } from '@/kit/shell/LanguageMenu';
import { Logo } from './Logo';

/** The frame of pages without a session: one card in the middle. */
export function PublicFrame({ title, children }: { title: string; children: ReactNode }) {
  const { t } = useTranslation();
  useDocumentTitle(`${title} · ${t('application')}`);
  return (
    <Stack mih="100dvh" gap={0}>
      <Group component="header" justify="space-between" p="md">
        <Group gap="xs">
          <Logo />
          <Text fw={600}>{t('application')}</Text>
        </Group>
        <Group gap="xs">
          <LanguageMenu />
          <ColorSchemeButton />
        </Group>
      </Group>
      <Center component="main" flex={1} p="md" pb="15vh">
        <Paper withBorder p={{ base: 'md', xs: 'xl' }} w="100%" maw={420}>
          <Stack>
            <Title order={1} size="h3">
              {title}
            </Title>
            {children}
          </Stack>
        </Paper>
      </Center>
    </Stack>
  );
}
