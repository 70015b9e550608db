import { Alert, Button, Stack, Text } from '@mantine/core';
import { Link, useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { PublicFrame } from '@/kit/components/PublicFrame';
import { finishSignOn, hasStarted } from './signOn';
import { useEnter } from './useEnter';

function useExchange(code: string | undefined, next: string | undefined) {
  const enter = useEnter();
  const exchange = $api.useMutation('post', '/api/v1/auth/sso/exchange');
  const run = () => {
    if (code === undefined) return;
    exchange.mutate({ body: { code } }, { onSuccess: ({ data }) => enter(data, next) });
  };
  return { run, error: exchange.error, isPending: exchange.isPending };
}

function Again() {
  const { t } = useTranslation('identity/sign_in');
  return (
    <Button component={Link} to="/sign-in" variant="default">
      {t('sign_on.again')}
    </Button>
  );
}

function Confirmation({ code, next }: { code: string | undefined; next: string | undefined }) {
  const { t } = useTranslation('identity/sign_in');
  const { run, error, isPending } = useExchange(code, next);
  return (
    <Stack>
      <Text size="sm">{t('sign_on.confirm')}</Text>
      <ErrorAlert error={error} />
      {error ? (
        <Again />
      ) : (
        <Button onClick={run} loading={isPending} disabled={code === undefined}>
          {t('sign_on.confirm_button')}
        </Button>
      )}
    </Stack>
  );
}

function Return({ code, next }: { code: string; next: string | undefined }) {
  const { run, error } = useExchange(code, next);
  const used = useRef(false);
  useEffect(() => {
    // A code works once, and effects may run twice.
    if (used.current) return;
    used.current = true;
    finishSignOn();
    run();
  });
  if (!error) return <Loading />;
  return (
    <Stack>
      <ErrorAlert error={error} />
      <Again />
    </Stack>
  );
}

/** Where the identity provider sends the browser back to, with a code or an error. */
export function SignOnPage() {
  const { t } = useTranslation('identity/sign_in');
  const { code, next, error, error_description: text } = useSearch({ from: '/public/sign-on' });
  const isWaiting = error === 'confirmation_required';
  useEffect(() => {
    if (error !== undefined) finishSignOn();
  }, [error]);
  let content = <Confirmation code={code} next={next} />;
  if (error !== undefined) {
    content = (
      <Stack>
        <Alert color={isWaiting ? 'blue' : 'red'} role="alert">
          {isWaiting ? t('sign_on.emailed') : (text ?? error)}
        </Alert>
        <Again />
      </Stack>
    );
  } else if (code !== undefined && hasStarted()) content = <Return code={code} next={next} />;
  return <PublicFrame title={t('sign_on.title')}>{content}</PublicFrame>;
}

/** Confirms a sign-on with the link of an email. */
export function ConfirmSignOnPage() {
  const { t } = useTranslation('identity/sign_in');
  const { code } = useSearch({ from: '/public/confirm-sign-on' });
  return (
    <PublicFrame title={t('sign_on.title')}>
      <Confirmation code={code} next={undefined} />
    </PublicFrame>
  );
}
