import { Button, Group, PasswordInput, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { notifyDone } from '@/kit/components/notify';
import { Section } from '@/kit/components/Section';
import { otherError, showAtField } from '@/kit/forms/fieldErrors';
import { startSession } from '@/kit/session/store';

/** Changes the password. All other sessions end; this one goes on with a new token. */
export function PasswordSection() {
  const { t } = useTranslation('identity/profile');
  const change = $api.useMutation('post', '/api/v1/auth/password/change');
  const form = useForm({ initialValues: { current_password: '', new_password: '' } });
  const submit = form.onSubmit((body) => {
    change.mutate(
      { body },
      {
        onSuccess: ({ data }) => {
          startSession(data);
          form.reset();
          notifyDone(t('password.done'));
        },
        onError: (error: unknown) => showAtField(form, error),
      },
    );
  });
  return (
    <Section title={t('password.title')} description={t('password.text')}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <PasswordInput
            label={t('password.current')}
            autoComplete="current-password"
            required
            {...form.getInputProps('current_password')}
          />
          <PasswordInput
            label={t('password.new')}
            description={t('password.hint')}
            autoComplete="new-password"
            required
            {...form.getInputProps('new_password')}
          />
          <ErrorAlert error={otherError(change.error, ['current_password', 'new_password'])} />
          <Group>
            <Button type="submit" variant="default" loading={change.isPending}>
              {t('password.submit')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
