import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorAlert } from '@/kit/components/ErrorAlert';

interface DialogProps {
  title: string;
  opened: boolean;
  onClose: () => void;
  size?: string | number;
  children: ReactNode;
}

/** A dialog with a title and a button that closes it. Its content is new each time it opens. */
export function Dialog({ title, opened, onClose, size, children }: DialogProps) {
  const { t } = useTranslation('kit/data');
  return (
    <Modal
      title={title}
      opened={opened}
      onClose={onClose}
      {...(size !== undefined && { size })}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      {children}
    </Modal>
  );
}

interface FormActionsProps {
  submit: string;
  loading: boolean;
  onCancel?: () => void;
  disabled?: boolean;
  /** What is done cannot be undone. */
  danger?: boolean;
}

/** The buttons at the end of a form. */
export function FormActions({ submit, loading, onCancel, disabled, danger }: FormActionsProps) {
  const { t } = useTranslation('kit/data');
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
        {...(danger && { color: 'red.9' })}
      >
        {submit}
      </Button>
    </Group>
  );
}

interface ConfirmProps {
  title: string;
  opened: boolean;
  onClose: () => void;
  /** The verb on the button. */
  action: string;
  onConfirm: () => void;
  loading: boolean;
  error: unknown;
  danger?: boolean;
  children: ReactNode;
}

/** Asks before something that cannot be undone, or that others will notice. */
export function Confirm(props: ConfirmProps) {
  const { title, opened, onClose, action, onConfirm, loading, error, danger, children } = props;
  return (
    <Dialog title={title} opened={opened} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onConfirm();
        }}
      >
        <Stack>
          <Text size="sm" component="div">
            {children}
          </Text>
          <ErrorAlert error={error} />
          <FormActions
            submit={action}
            loading={loading}
            onCancel={onClose}
            danger={danger ?? false}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
