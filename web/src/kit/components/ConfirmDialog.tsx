import { Button, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog } from './Dialog';
import { ErrorAlert } from './ErrorAlert';

interface Props {
  title: string;
  opened?: boolean;
  onClose: () => void;
  /** The verb of the button. */
  action: string;
  onConfirm: () => void;
  loading: boolean;
  error: unknown;
  /** Red for what destroys. */
  danger?: boolean;
  /** What happens, and what cannot be undone. */
  children: ReactNode;
}

/** Asks before something that cannot be undone, or that others will notice. The focus is on the way back. */
export function ConfirmDialog(props: Props) {
  const { title, opened = true, onClose, action, onConfirm, loading, error, danger } = props;
  const { t } = useTranslation();
  return (
    <Dialog title={title} opened={opened} onClose={onClose}>
      <Stack>
        <Text size="sm" component="div" dir="auto">
          {props.children}
        </Text>
        <ErrorAlert error={error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            {t('cancel')}
          </Button>
          <Button color={danger ? 'red.9' : undefined} loading={loading} onClick={onConfirm}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
