import { Anchor, Button, Divider, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { isApiError } from '@/kit/api/errors';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { PublicFrame } from '@/kit/components/PublicFrame';
import { SignOnForm } from './SignOnForm';
import { useEnter } from './useEnter';

function PasswordForm({ onSignOn }: { onSignOn: (email: string) => void }) {
  const { t } = useTranslation('identity/sign_in');
  const { next } = useSearch({ from: '/public/sign-in' });
  const enter = useEnter();
  const login = $api.useMutation('post', '/api/v1/auth/login');
  const form = useForm({ initialValues: { email: '', password: '' } });
  const submit = form.onSubmit((body) => {
    login.mutate(
      { body },
      {
        onSuccess: ({ data }) => enter(data, next),
        onError: (error: unknown) => {
          if (isApiError(error) && error.details['single_sign_on'] !== undefined)
            onSignOn(body.email);
        },
      },
    );
  });
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label={t('email')}
          type="email"
          autoComplete="username"
          required
          {...form.getInputProps('email')}
        />
        <PasswordInput
          label={t('password')}
          autoComplete="current-password"
          required
          {...form.getInputProps('password')}
        />
        <ErrorAlert error={login.error} />
        <Button type="submit" loading={login.isPending} fullWidth>
          {t('submit')}
        </Button>
        <Anchor component={Link} to="/forgot-password" size="sm">
          {t('forgot')}
        </Anchor>
      </Stack>
    </form>
  );
}

export function SignInPage() {
  const { t } = useTranslation('identity/sign_in');
  const [signOn, setSignOn] = useState<{ who: string }>();
  return (
    <PublicFrame title={t('title')}>
      {signOn ? (
        <SignOnForm who={signOn.who} onBack={() => setSignOn(undefined)} />
      ) : (
        <>
          <PasswordForm onSignOn={(who) => setSignOn({ who })} />
          <Divider label={t('or')} labelPosition="center" />
          <Button variant="default" onClick={() => setSignOn({ who: '' })}>
            {t('sign_on.title')}
          </Button>
        </>
      )}
    </PublicFrame>
  );
}
