import { Anchor, Button, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useEnter } from '@/identity/sign_in';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { PublicFrame } from '@/kit/components/PublicFrame';
import { otherError, showAtField } from '@/kit/forms/fieldErrors';
import { useToken } from './useToken';

export function ResetPasswordPage() {
  const { t } = useTranslation('identity/mail_links');
  const token = useToken('/public/reset-password');
  const enter = useEnter();
  const confirm = $api.useMutation('post', '/api/v1/auth/password-reset/confirm');
  const form = useForm({ initialValues: { password: '' } });
  const submit = form.onSubmit(({ password }) => {
    confirm.mutate(
      { body: { token, password } },
      {
        onSuccess: ({ data }) => enter(data),
        onError: (error: unknown) => showAtField(form, error),
      },
    );
  });
  return (
    <PublicFrame title={t('reset.title')}>
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">{t('reset.text')}</Text>
          <PasswordInput
            label={t('new_password')}
            description={t('password_hint')}
            autoComplete="new-password"
            required
            {...form.getInputProps('password')}
          />
          <ErrorAlert error={otherError(confirm.error, ['password'])} />
          <Button type="submit" loading={confirm.isPending}>
            {t('reset.submit')}
          </Button>
          <Anchor component={Link} to="/forgot-password" size="sm">
            {t('reset.again')}
          </Anchor>
        </Stack>
      </form>
    </PublicFrame>
  );
}
