import { Alert, Button, Group, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Section } from '@/kit/components/Section';
import { otherError, showAtField } from '@/kit/forms/fieldErrors';

interface Props {
  email: string;
  verified: boolean;
}

/** Changes the address, or confirms the current one; a link is sent to it. */
export function EmailSection({ email, verified }: Props) {
  const { t } = useTranslation('identity/profile');
  const request = $api.useMutation('post', '/api/v1/auth/email-change/request');
  const form = useForm({ initialValues: { email, password: '' } });
  const submit = form.onSubmit((body) => {
    request.mutate(
      { body },
      { onSuccess: () => form.reset(), onError: (error: unknown) => showAtField(form, error) },
    );
  });
  return (
    <Section
      title={t('email.title')}
      description={verified ? t('email.verified') : t('email.unverified')}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput
            label={t('email.email')}
            type="email"
            autoComplete="email"
            required
            {...form.getInputProps('email')}
          />
          <PasswordInput
            label={t('password.current')}
            autoComplete="current-password"
            required
            {...form.getInputProps('password')}
          />
          <ErrorAlert error={otherError(request.error, ['email', 'password'])} />
          {request.isSuccess && (
            <Alert color="blue" role="status">
              {t('email.sent')}
            </Alert>
          )}
          <Group>
            <Button type="submit" variant="default" loading={request.isPending}>
              {t('email.submit')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
