import { ActionIcon, CopyButton as Copy, Tooltip } from '@mantine/core';
import { Check, Copy as CopyIcon } from 'lucide-react';
import { useTranslation } from 'react-i18next';

/** Copies a text. `label` says what, for screen readers. */
export function CopyButton({ value, label }: { value: string; label: string }) {
  const { t } = useTranslation();
  return (
    <Copy value={value}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? t('copied') : label}>
          <ActionIcon
            variant="subtle"
            color="gray"
            onClick={copy}
            aria-label={copied ? t('copied') : label}
          >
            {copied ? <Check size={16} /> : <CopyIcon size={16} />}
          </ActionIcon>
        </Tooltip>
      )}
    </Copy>
  );
}
