import { Modal, type ModalProps, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { AroundForm, askToDiscard, useIsAsked } from '@/kit/forms/unsaved';
import { Part } from './Part';

/** The header of a dialog or drawer is no landmark of the page. */
export const NO_BANNER = { header: { role: 'none' } };

interface Props extends Omit<ModalProps, 'title' | 'opened'> {
  title: string;
  /** Without it, the dialog is there as long as it is rendered. */
  opened?: boolean;
  /** Only its buttons close it, because what it shows is not shown again. */
  firm?: boolean;
}

/**
 * A dialog with a title and a button that closes it. Its content is new each time it opens; before
 * changes in it are lost, it asks.
 */
export function Dialog({ title, opened = true, firm = false, onClose, children, ...rest }: Props) {
  const { t } = useTranslation();
  const [isDirty, setDirty] = useState(false);
  const isAsked = useIsAsked();
  const close = async () => {
    if (!isDirty || (await askToDiscard())) onClose();
  };
  return (
    <Modal
      onClose={() => void close()}
      opened={opened}
      title={
        <Text span fw={600} dir="auto">
          {title}
        </Text>
      }
      attributes={NO_BANNER}
      closeOnClickOutside={!firm}
      // Of two dialogs, the key closes the one in front.
      closeOnEscape={!firm && !(isDirty && isAsked)}
      closeButtonProps={{ 'aria-label': t('close') }}
      {...rest}
    >
      <AroundForm value={setDirty}>
        <Part>{children}</Part>
      </AroundForm>
    </Modal>
  );
}
