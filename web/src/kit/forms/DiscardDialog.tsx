import { useBlocker } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '@/kit/components/ConfirmDialog';
import { answerDiscard, hasUnsaved, mayLeave, useIsAsked } from './unsaved';

const isStaying = async () => !(await mayLeave());

/** Asks before changes that were not saved are lost, and holds the page until the answer. */
export function DiscardDialog() {
  const { t } = useTranslation();
  useBlocker({ shouldBlockFn: isStaying, enableBeforeUnload: hasUnsaved });
  if (!useIsAsked()) return null;
  return (
    <ConfirmDialog
      danger
      title={t('unsaved.title')}
      action={t('unsaved.discard')}
      onClose={() => answerDiscard(false)}
      onConfirm={() => answerDiscard(true)}
      loading={false}
      error={null}
    >
      {t('unsaved.text')}
    </ConfirmDialog>
  );
}
