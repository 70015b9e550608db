import { Anchor, Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { PublicFrame } from '@/kit/components/PublicFrame';

export function ForgotPasswordPage() {
  const { t } = useTranslation('identity/mail_links');
  const request = $api.useMutation('post', '/api/v1/auth/password-reset/request');
  const form = useForm({ initialValues: { email: '' } });
  return (
    <PublicFrame title={request.isSuccess ? t('forgot.done_title') : t('forgot.title')}>
      {request.isSuccess ? (
        <Text size="sm">{t('forgot.done')}</Text>
      ) : (
        <form onSubmit={form.onSubmit((body) => request.mutate({ body }))}>
          <Stack>
            <Text size="sm">{t('forgot.text')}</Text>
            <TextInput
              label={t('email')}
              type="email"
              autoComplete="username"
              required
              {...form.getInputProps('email')}
            />
            <ErrorAlert error={request.error} />
            <Button type="submit" loading={request.isPending}>
              {t('forgot.submit')}
            </Button>
          </Stack>
        </form>
      )}
      <Anchor component={Link} to="/sign-in" size="sm">
        {t('sign_in')}
      </Anchor>
    </PublicFrame>
  );
}
