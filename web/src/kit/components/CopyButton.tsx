import { ActionIcon, Tooltip } from '@mantine/core';
import { useTimeout } from '@mantine/hooks';
import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { copyText } from './copying';
import { notifyError } from './notify';

const SHOWN_MILLISECONDS = 2_000;

/** Copies a text. `label` says what, for screen readers. */
export function CopyButton({ value, label }: { value: string; label: string }) {
  const { t } = useTranslation();
  const [copied, setCopied] = useState(false);
  const { start } = useTimeout(() => setCopied(false), SHOWN_MILLISECONDS);
  const copy = async () => {
    if (!(await copyText(value))) {
      notifyError(new Error(t('copy_failed')));
      return;
    }
    setCopied(true);
    start();
  };
  return (
    <Tooltip label={copied ? t('copied') : label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        onClick={() => void copy()}
        aria-label={copied ? t('copied') : label}
      >
        {copied ? <Check size={16} /> : <Copy size={16} />}
      </ActionIcon>
    </Tooltip>
  );
}
