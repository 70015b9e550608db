import { Button, Stack, TextInput } from '@mantine/core';
import { useFocusTrap } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { startSignOn } from './signOn';

/** Asks who signs in, and goes to the identity provider of that organization. */
export function SignOnForm({ who, onBack }: { who: string; onBack: () => void }) {
  const { t } = useTranslation('identity/sign_in');
  const { next } = useSearch({ from: '/public/sign-in' });
  const [name, setName] = useState(who);
  const focus = useFocusTrap();
  const start = useMutation({ mutationFn: () => startSignOn(name, next) });
  return (
    <form
      ref={focus}
      onSubmit={(event) => {
        event.preventDefault();
        start.mutate();
      }}
    >
      <Stack>
        <TextInput
          label={t('sign_on.who')}
          description={t('sign_on.hint')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          autoComplete="username"
          required
          data-autofocus
        />
        <ErrorAlert error={start.error} />
        <Button type="submit" loading={start.isPending}>
          {t('sign_on.submit')}
        </Button>
        <Button variant="subtle" onClick={onBack}>
          {t('sign_on.password')}
        </Button>
      </Stack>
    </form>
  );
}
