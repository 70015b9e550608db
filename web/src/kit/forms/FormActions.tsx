import { Button, Group } from '@mantine/core';
import { useLayoutEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';

interface Props {
  submit: string;
  loading: boolean;
  onCancel?: () => void;
  disabled?: boolean;
  /** What is done cannot be undone. */
  danger?: boolean;
}

/** Browsers take the focus from a button that is off while it is loading: it comes back afterwards. */
function useFocusBack(loading: boolean) {
  const button = useRef<HTMLButtonElement>(null);
  const hadFocus = useRef(false);
  useLayoutEffect(() => {
    const focused = document.activeElement;
    if (loading) hadFocus.current = focused === button.current;
    else if (hadFocus.current && (focused === null || focused === document.body))
      button.current?.focus();
  }, [loading]);
  return button;
}

/** The buttons at the end of a form. */
export function FormActions({ submit, loading, onCancel, disabled, danger }: Props) {
  const { t } = useTranslation();
  const button = useFocusBack(loading);
  return (
    <Group justify="flex-end" gap="xs">
      {onCancel && (
        <Button variant="default" onClick={onCancel}>
          {t('cancel')}
        </Button>
      )}
      <Button
        ref={button}
        type="submit"
        loading={loading}
        disabled={disabled ?? false}
        color={danger ? 'red.9' : undefined}
      >
        {submit}
      </Button>
    </Group>
  );
}
