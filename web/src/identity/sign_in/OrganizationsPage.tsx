import { Button, Stack, Text } from '@mantine/core';
import { Navigate, useRouter } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { PublicFrame } from '@/kit/components/PublicFrame';
import { useSession } from '@/kit/session/store';
import { signOut, switchOrganization } from '@/kit/session/switching';

/** Lets a member of several organizations choose one. */
export function OrganizationsPage() {
  const { t } = useTranslation('identity/sign_in');
  const { t: tKit } = useTranslation();
  const router = useRouter();
  const session = useSession();
  if (!session) return <Navigate to="/sign-in" />;
  return (
    <PublicFrame title={t('organizations.title')}>
      <Stack gap="xs">
        {session.organizations.length === 0 && <Text size="sm">{t('organizations.none')}</Text>}
        {session.organizations.map((one) => (
          <Button
            key={one.slug}
            variant="default"
            justify="space-between"
            rightSection={<Text size="xs">{tKit(`roles.${one.role}`)}</Text>}
            onClick={() => void switchOrganization(router, one.slug)}
          >
            <span dir="auto">{one.name}</span>
          </Button>
        ))}
        <Button variant="subtle" onClick={() => void signOut(router)}>
          {tKit('shell.sign_out')}
        </Button>
      </Stack>
    </PublicFrame>
  );
}
