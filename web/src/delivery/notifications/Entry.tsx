import { Text, UnstyledButton } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useFormat } from '@/kit/i18n/format';
import { currentOrganization } from '@/kit/session/organization';
import classes from './NotificationList.module.css';
import type { Notification } from './useNotifications';

interface Props {
  notification: Notification;
  open: () => void;
  /** All of the text, not only its beginning. */
  whole?: boolean;
}

export function Entry({ notification, open, whole }: Props) {
  const { t } = useTranslation('delivery/notifications');
  const { relative } = useFormat();
  const { title, body, organization, updated_at: updatedAt, read_at: readAt, count } = notification;
  const isElsewhere = organization.slug !== currentOrganization();
  return (
    <UnstyledButton
      className={classes.entry}
      onClick={open}
      data-unread={readAt === null || undefined}
    >
      <Text size="sm" fw={readAt === null ? 600 : 400} dir="auto">
        {title}
        {count > 1 && ` (${count})`}
      </Text>
      {body !== '' && (
        <Text
          size="xs"
          dir="auto"
          style={{ whiteSpace: whole ? 'pre-line' : undefined, overflowWrap: 'anywhere' }}
          {...(!whole && { lineClamp: 2 })}
        >
          {body}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {readAt === null && `${t('new')} · `}
        {relative(updatedAt)}
        {isElsewhere && ` · ${organization.name}`}
      </Text>
    </UnstyledButton>
  );
}
