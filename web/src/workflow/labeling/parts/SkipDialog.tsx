import { Button, Group, Modal, Stack, Textarea } from '@mantine/core';
import { type SyntheticEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorAlert } from '@/kit/components/ErrorAlert';

interface Props {
  opened: boolean;
  close: () => void;
  isPending: boolean;
  error: unknown;
  skip: (reason: string) => void;
}

/** Gives the document back with a reason, so that it is not offered to the same labeler again. */
export function SkipDialog({ opened, close, isPending, error, skip }: Props) {
  const { t } = useTranslation(['workflow/labeling', 'kit']);
  const [reason, setReason] = useState('');
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    skip(reason.trim());
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={t('skip.title')}
      closeButtonProps={{ 'aria-label': t('kit:close') }}
    >
      <form onSubmit={submit}>
        <Stack>
          <Textarea
            label={t('skip.reason')}
            description={t('skip.text')}
            rows={3}
            required
            dir="auto"
            maxLength={2000}
            data-autofocus
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
                event.currentTarget.form?.requestSubmit();
            }}
          />
          <ErrorAlert error={error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {t('cancel')}
            </Button>
            <Button type="submit" loading={isPending} disabled={reason.trim() === ''}>
              {t('skip.button')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
