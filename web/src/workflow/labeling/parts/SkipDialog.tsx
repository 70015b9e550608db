import { Stack, Textarea } from '@mantine/core';
import { type SyntheticEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog } from '@/kit/components/Dialog';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { FormActions } from '@/kit/forms/FormActions';

interface Props {
  opened: boolean;
  close: () => void;
  isPending: boolean;
  error: unknown;
  skip: (reason: string) => void;
}

/** Gives the document back with a reason, so that it is not offered to the same labeler again. */
export function SkipDialog({ opened, close, isPending, error, skip }: Props) {
  const { t } = useTranslation('workflow/labeling');
  const [reason, setReason] = useState('');
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    // The keys also reach a form whose button is off.
    if (!isPending && reason.trim() !== '') skip(reason.trim());
  };
  return (
    <Dialog opened={opened} onClose={close} title={t('skip.title')}>
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
          <FormActions
            submit={t('skip.button')}
            loading={isPending}
            disabled={reason.trim() === ''}
            onCancel={close}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
