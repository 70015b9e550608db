import { Button, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Dialog } from './Dialog';

interface Props {
  title: string;
  /** What happens, and what cannot be undone. */
  text: ReactNode;
  /** The verb of the button. */
  confirm: string;
  /** Red for what destroys. */
  danger?: boolean;
  pending: boolean;
  error: unknown;
  onConfirm: () => void;
  close: () => void;
}

/** Asks before something that cannot be undone. The focus is on the way back. */
export function ConfirmDialog(props: Props) {
  const { t } = useTranslation('kit/parts');
  return (
    <Dialog title={props.title} close={props.close}>
      <Stack>
        {typeof props.text === 'string' ? <Text size="sm">{props.text}</Text> : props.text}
        <ErrorAlert error={props.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={props.close} data-autofocus>
            {t('cancel')}
          </Button>
          <Button
            color={props.danger ? 'red' : undefined}
            loading={props.pending}
            onClick={props.onConfirm}
          >
            {props.confirm}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
