import { Button, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';

interface Props {
  submit: string;
  loading: boolean;
  onCancel?: () => void;
  disabled?: boolean;
  /** What is done cannot be undone. */
  danger?: boolean;
}

/** The buttons at the end of a form. */
export function FormActions({ submit, loading, onCancel, disabled, danger }: Props) {
  const { t } = useTranslation();
  return (
    <Group justify="flex-end" gap="xs">
      {onCancel && (
        <Button variant="default" onClick={onCancel}>
          {t('cancel')}
        </Button>
      )}
      <Button
        type="submit"
        loading={loading}
        disabled={disabled ?? false}
        color={danger ? 'red.9' : undefined}
      >
        {submit}
      </Button>
    </Group>
  );
}
