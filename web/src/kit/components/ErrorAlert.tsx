import { Alert, Button, Group } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';

interface Props {
  error: unknown;
  /** Offers to try again. */
  retry?: () => void;
}

/** Shows an error that belongs to no field. Without an error it shows nothing. */
export function ErrorAlert({ error, retry }: Props) {
  const { t } = useTranslation();
  if (error === null || error === undefined) return null;
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
