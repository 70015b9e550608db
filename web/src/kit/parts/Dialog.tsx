import { Modal, type ModalProps, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** The header of a dialog is no landmark of the page. */
export const NO_BANNER = { header: { role: 'none' } };

interface Props {
  title: string;
  close: () => void;
  size?: ModalProps['size'];
  /** Closes only by its buttons, because what it shows is not shown again. */
  firm?: boolean;
  children: ReactNode;
}

/** A dialog that is there as long as it is rendered. */
export function Dialog({ title, close, size, firm, children }: Props) {
  const { t } = useTranslation();
  return (
    <Modal
      opened
      onClose={close}
      title={
        <Text span fw={600} dir="auto">
          {title}
        </Text>
      }
      attributes={NO_BANNER}
      {...(size !== undefined && { size })}
      closeOnClickOutside={!firm}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      {children}
    </Modal>
  );
}
