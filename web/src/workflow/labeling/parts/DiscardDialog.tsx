import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '@/kit/components/ConfirmDialog';

interface Props {
  opened: boolean;
  close: () => void;
  isPending: boolean;
  error: unknown;
  discard: () => void;
}

export function DiscardDialog({ opened, close, isPending, error, discard }: Props) {
  const { t } = useTranslation('workflow/labeling');
  return (
    <ConfirmDialog
      danger
      title={t('discard.title')}
      opened={opened}
      onClose={close}
      action={t('discard.button')}
      onConfirm={discard}
      loading={isPending}
      error={error}
    >
      {t('discard.text')}
    </ConfirmDialog>
  );
}
