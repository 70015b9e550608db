import { Button, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';

interface Props {
  label: string;
  color?: string;
  isPending: boolean;
  isReady: boolean;
  close: () => void;
}

/** The buttons at the end of a form in a dialog. */
export function DialogButtons({ label, color, isPending, isReady, close }: Props) {
  const { t } = useTranslation('workflow/review');
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={close}>
        {t('cancel')}
      </Button>
      <Button
        type="submit"
        {...(color === undefined ? {} : { color })}
        loading={isPending}
        disabled={!isReady}
      >
        {label}
      </Button>
    </Group>
  );
}
