import { Modal, type ModalProps, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** The header of a dialog or drawer is no landmark of the page. */
export const NO_BANNER = { header: { role: 'none' } };

interface Props extends Omit<ModalProps, 'title' | 'opened'> {
  title: string;
  /** Without it, the dialog is there as long as it is rendered. */
  opened?: boolean;
  /** Only its buttons close it, because what it shows is not shown again. */
  firm?: boolean;
}

/** A dialog with a title and a button that closes it. Its content is new each time it opens. */
export function Dialog({ title, opened = true, firm = false, ...rest }: Props) {
  const { t } = useTranslation();
  return (
    <Modal
      opened={opened}
      title={
        <Text span fw={600} dir="auto">
          {title}
        </Text>
      }
      attributes={NO_BANNER}
      closeOnClickOutside={!firm}
      closeOnEscape={!firm}
      closeButtonProps={{ 'aria-label': t('close') }}
      {...rest}
    />
  );
}
