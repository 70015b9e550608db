import { Button, Center, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';

export function NotFound() {
  const { t } = useTranslation();
  return (
    <Center p="xl" mih="60vh">
      <Stack align="center" gap="xs">
        <Title order={1} size="h3">
          {t('not_found.title')}
        </Title>
        <Text c="dimmed">{t('not_found.text')}</Text>
        <Button component={Link} to="/" variant="default" mt="sm">
          {t('not_found.home')}
        </Button>
      </Stack>
    </Center>
  );
}
