import { Alert, Button, Group } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import { useContext } from 'react';
import { useTranslation } from 'react-i18next';
import { isApiError } from '@/kit/api/errors';
import { EditedContext } from '@/kit/forms/edited';
import { StaleForm } from '@/kit/forms/StaleNotice';

interface Props {
  error: unknown;
  /** Offers to try again. */
  retry?: () => void;
}

/**
 * Shows an error that belongs to no field. Without an error it shows nothing. In the form of a record that
 * somebody else has changed, it asks whose changes stay.
 */
export function ErrorAlert({ error, retry }: Props) {
  const { t } = useTranslation();
  const edited = useContext(EditedContext);
  if (error === null || error === undefined) return null;
  if (edited && isApiError(error, 'stale_precondition'))
    return <StaleForm error={error} edited={edited} />;
  const message = error instanceof Error ? error.message : t('error.unknown');
  return (
    <Alert color="red" variant="light" icon={<CircleAlert size={18} />} role="alert">
      <Group justify="space-between" gap="sm">
        {message}
        {retry && (
          <Button size="compact-sm" variant="default" onClick={retry}>
            {t('retry')}
          </Button>
        )}
      </Group>
    </Alert>
  );
}
