import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ErrorAlert } from '@/kit/components/ErrorAlert';

interface Props {
  opened: boolean;
  close: () => void;
  isPending: boolean;
  error: unknown;
  discard: () => void;
}

export function DiscardDialog({ opened, close, isPending, error, discard }: Props) {
  const { t } = useTranslation(['workflow/labeling', 'kit']);
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={t('discard.title')}
      closeButtonProps={{ 'aria-label': t('kit:close') }}
    >
      <Stack>
        <Text size="sm">{t('discard.text')}</Text>
        <ErrorAlert error={error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={close} data-autofocus>
            {t('cancel')}
          </Button>
          <Button color="red" onClick={discard} loading={isPending}>
            {t('discard.button')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
