import { Container, Group, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

interface Props {
  title: string;
  description?: ReactNode;
  /** Buttons at the right of the title. */
  actions?: ReactNode;
  /** `wide` for tables. */
  size?: 'narrow' | 'wide';
  children: ReactNode;
}

/** The frame of every page inside the shell: one heading, its actions, and the title of the tab. */
export function Page({ title, description, actions, size = 'wide', children }: Props) {
  const { t } = useTranslation();
  useDocumentTitle(`${title} · ${t('application')}`);
  return (
    <Container size={size === 'narrow' ? 720 : 1280} px="md" py="md" w="100%">
      <Stack gap="md">
        <Group justify="space-between" align="flex-start" gap="sm">
          <Stack gap={2}>
            <Title order={1} size="h3">
              {title}
            </Title>
            {description !== undefined && (
              <Text c="dimmed" size="sm">
                {description}
              </Text>
            )}
          </Stack>
          {actions !== undefined && <Group gap="xs">{actions}</Group>}
        </Group>
        {children}
      </Stack>
    </Container>
  );
}
