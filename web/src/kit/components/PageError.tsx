import { Stack } from '@mantine/core';
import { useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { isApiError } from '@/kit/api/errors';
import { ErrorAlert } from './ErrorAlert';
import { NotFound } from './NotFound';

/** What a page shows that could not be loaded. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation();
  const router = useRouter();
  if (isApiError(error) && error.status === 404) return <NotFound />;
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return (
    <Stack p="xl">
      <ErrorAlert error={isApiError(error) ? error : new Error(t('error.unknown'))} retry={retry} />
    </Stack>
  );
}
