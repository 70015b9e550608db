import { Button, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { PublicFrame } from '@/kit/components/PublicFrame';
import { useToken } from './useToken';

export function ConfirmEmailPage() {
  const { t } = useTranslation('identity/mail_links');
  const token = useToken('/public/confirm-email');
  const confirm = $api.useMutation('post', '/api/v1/auth/email-change/confirm');
  const email = confirm.data?.data.email;
  return (
    <PublicFrame title={email === undefined ? t('confirm.title') : t('confirm.done_title')}>
      <Stack>
        <Text size="sm">
          {email === undefined ? t('confirm.text') : t('confirm.done', { email })}
        </Text>
        <ErrorAlert error={confirm.error} />
        {email === undefined ? (
          <Button loading={confirm.isPending} onClick={() => confirm.mutate({ body: { token } })}>
            {t('confirm.submit')}
          </Button>
        ) : (
          <Button component={Link} to="/">
            {t('continue')}
          </Button>
        )}
      </Stack>
    </PublicFrame>
  );
}
