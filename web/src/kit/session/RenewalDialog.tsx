import { Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { type SyntheticEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { Dialog } from '@/kit/components/Dialog';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { basePath } from '@/kit/environment';
import { continueWith, useRenewal } from './renewal';
import { useSession } from './store';

/**
 * Goes to the sign-in page: single sign-on leads through pages of others. The other tabs keep what they
 * show until they get the new session.
 */
function leave(): void {
  const next = `${window.location.pathname}${window.location.search}`;
  window.location.assign(`${basePath}/sign-in?next=${encodeURIComponent(next)}`);
}

/** Asks for the password again when the token has expired; the page behind it stays as it is. */
export function RenewalDialog() {
  const { t } = useTranslation();
  const opened = useRenewal();
  const session = useSession();
  const [typed, setTyped] = useState<string>();
  const [password, setPassword] = useState('');
  const login = $api.useMutation('post', '/api/v1/auth/login');
  // The address may have been changed, which ends all sessions.
  const email = typed ?? session?.user.email ?? '';

  const user = login.data?.data.user;
  const isOther = user !== undefined && user.id !== session?.user.id;

  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    if (!session) return;
    const { data } = await login.mutateAsync({ body: { email, password } });
    setPassword('');
    setTyped(undefined);
    await continueWith(data);
  };
  return (
    <Dialog
      opened={opened && session !== undefined}
      onClose={() => undefined}
      withCloseButton={false}
      title={t('renewal.title')}
    >
      <form onSubmit={(event) => void submit(event).catch(() => undefined)}>
        <Stack>
          <Text size="sm">{t('renewal.text')}</Text>
          <TextInput
            label={t('renewal.email')}
            type="email"
            value={email}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="username"
            required
          />
          <PasswordInput
            label={t('renewal.password')}
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            autoComplete="current-password"
            data-autofocus
            required
          />
          <ErrorAlert error={isOther ? new Error(t('renewal.other_account')) : login.error} />
          <Buttons isPending={login.isPending} />
        </Stack>
      </form>
    </Dialog>
  );
}

function Buttons({ isPending }: { isPending: boolean }) {
  const { t } = useTranslation();
  return (
    <Group justify="space-between">
      <Button variant="subtle" onClick={leave}>
        {t('renewal.other')}
      </Button>
      <Button type="submit" loading={isPending}>
        {t('renewal.continue')}
      </Button>
    </Group>
  );
}
