import { Anchor, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useEnter } from '@/identity/sign_in';
import { $api } from '@/kit/api/client';
import { isApiError } from '@/kit/api/errors';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { PublicFrame } from '@/kit/components/PublicFrame';
import { otherError, showAtField } from '@/kit/forms/fieldErrors';
import { useFormat } from '@/kit/i18n/format';
import { readSession } from '@/kit/session/store';
import { useToken } from './useToken';

type Invitation = Schemas['InvitationPreview'];

function AcceptForm({ token, invitation }: { token: string; invitation: Invitation }) {
  const { t } = useTranslation('identity/mail_links');
  const enter = useEnter();
  const accept = $api.useMutation('post', '/api/v1/auth/invitations/{invitation_token}/accept');
  const form = useForm({ initialValues: { name: '', password: '' } });
  const { has_account: hasAccount, email, organization } = invitation;
  const isSignedIn = readSession()?.user.email === email;
  const submit = form.onSubmit(({ name, password }) => {
    const body = isSignedIn ? {} : hasAccount ? { password } : { name, password };
    accept.mutate(
      { params: { path: { invitation_token: token } }, body },
      {
        onSuccess: ({ data }) => enter(data, undefined, organization.slug),
        onError: (error: unknown) => showAtField(form, error),
      },
    );
  });
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput label={t('email')} value={email} readOnly autoComplete="username" />
        {!hasAccount && (
          <TextInput
            label={t('name')}
            autoComplete="name"
            required
            dir="auto"
            {...form.getInputProps('name')}
          />
        )}
        {!isSignedIn && (
          <PasswordInput
            label={t('password')}
            description={hasAccount ? undefined : t('password_hint')}
            autoComplete={hasAccount ? 'current-password' : 'new-password'}
            required
            {...form.getInputProps('password')}
          />
        )}
        <ErrorAlert error={otherError(accept.error, ['name', 'password'])} />
        <Button type="submit" loading={accept.isPending}>
          {t('invitation.submit')}
        </Button>
        {hasAccount && !isSignedIn && (
          <Anchor component={Link} to="/forgot-password" size="sm">
            {t('invitation.forgot')}
          </Anchor>
        )}
      </Stack>
    </form>
  );
}

function InvitationError({ error }: { error: unknown }) {
  const { t } = useTranslation('identity/mail_links');
  if (!isApiError(error) || error.status !== 404) return <ErrorAlert error={error} />;
  return <ErrorAlert error={new Error(t('invalid'))} />;
}

export function AcceptInvitationPage() {
  const { t } = useTranslation('identity/mail_links');
  const { t: tKit } = useTranslation();
  const { date } = useFormat();
  const token = useToken('/public/accept-invitation');
  const path = '/api/v1/auth/invitations/{invitation_token}';
  const query = $api.useQuery('get', path, { params: { path: { invitation_token: token } } });
  const invitation = query.data?.data;
  if (!invitation) {
    return (
      <PublicFrame title={t('invitation.title')}>
        {query.error ? <InvitationError error={query.error} /> : <Loading />}
        {query.error && <Text size="sm">{t('invitation.again')}</Text>}
      </PublicFrame>
    );
  }
  const values = {
    inviter: invitation.inviter_name ?? invitation.organization.name,
    role: tKit(`roles.${invitation.role as 'viewer'}`),
    date: date(invitation.expires_at),
  };
  return (
    <PublicFrame title={t('invitation.join', { organization: invitation.organization.name })}>
      <Text size="sm">{t('invitation.text', values)}</Text>
      <AcceptForm token={token} invitation={invitation} />
    </PublicFrame>
  );
}
