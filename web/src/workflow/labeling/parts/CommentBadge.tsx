import { ActionIcon, Indicator, Tooltip } from '@mantine/core';
import { MessageSquare } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { Field } from '../model/tags';

/** Opens the comments at a field; says how many threads are open there. */
export function CommentBadge({
  field,
  count,
  open,
}: {
  field: Field;
  count: number;
  open: () => void;
}) {
  const { t } = useTranslation('workflow/labeling');
  const label = t('comments.at', { label: field.label, count });
  return (
    <Tooltip label={label}>
      <Indicator label={count} size={14} disabled={count === 0} color="orange.9">
        <ActionIcon
          size="sm"
          variant="subtle"
          color="gray"
          c="dimmed"
          tabIndex={count > 0 ? 0 : -1}
          aria-label={label}
          onClick={open}
        >
          <MessageSquare size={14} />
        </ActionIcon>
      </Indicator>
    </Tooltip>
  );
}
