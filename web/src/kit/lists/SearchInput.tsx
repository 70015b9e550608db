import { CloseButton, TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';

interface Props extends Omit<TextInputProps, 'value' | 'onChange'> {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

const PAUSE_MILLISECONDS = 250;

/** A search that follows what is typed after a short pause. */
export function SearchInput({ value, onChange, ...rest }: Props) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState(value ?? '');
  const sent = useRef(value);
  const send = useDebouncedCallback((next: string) => {
    sent.current = next.trim() === '' ? undefined : next.trim();
    onChange(sent.current);
  }, PAUSE_MILLISECONDS);
  useEffect(() => {
    // What was sent comes back later, when more may have been typed.
    if (value === sent.current) return;
    // The address was changed by something else, such as the back button.
    sent.current = value;
    setTyped(value ?? '');
  }, [value]);
  const type = (next: string) => {
    setTyped(next);
    send(next);
  };
  return (
    <TextInput
      type="search"
      aria-label={t('list.search')}
      placeholder={t('list.search')}
      maxLength={200}
      leftSection={<Search size={14} aria-hidden />}
      rightSection={
        typed !== '' && (
          <CloseButton size="sm" aria-label={t('list.clear')} onClick={() => type('')} />
        )
      }
      {...rest}
      value={typed}
      onChange={(event) => type(event.currentTarget.value)}
    />
  );
}
