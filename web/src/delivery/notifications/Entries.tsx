import { ActionIcon, Menu } from '@mantine/core';
import { Ellipsis, Mail, MailOpen, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '@/kit/components/ConfirmDialog';
import { Entry } from './Entry';
import classes from './NotificationList.module.css';
import type { Notification, useNotificationActions } from './useNotifications';

interface Props {
  notifications: readonly Notification[];
  actions: ReturnType<typeof useNotificationActions>;
}

/** A page of notifications, each with what can be done with it. */
export function Entries({ notifications, actions }: Props) {
  const { t } = useTranslation('delivery/notifications');
  const [deleting, setDeleting] = useState<Notification>();
  const close = () => setDeleting(undefined);
  return (
    <>
      <ul className={classes.list} aria-label={t('title')}>
        {notifications.map((notification) => (
          <li key={notification.id} className={classes.item}>
            <Entry notification={notification} open={() => actions.open(notification)} whole />
            <div className={classes.menu}>
              <Actions {...{ notification, actions }} remove={() => setDeleting(notification)} />
            </div>
          </li>
        ))}
      </ul>
      {deleting && (
        <ConfirmDialog
          danger
          title={t('delete.title')}

          action={t('delete.action')}
          loading={actions.removing.isPending}
          error={actions.removing.error}
          onConfirm={() => actions.remove(deleting, close)}
          onClose={close}
        >
          {t('delete.text', { title: deleting.title })}
        </ConfirmDialog>
      )}
    </>
  );
}

interface ActionsProps {
  notification: Notification;
  actions: Props['actions'];
  remove: () => void;
}

function Actions({ notification, actions, remove }: ActionsProps) {
  const { t } = useTranslation('delivery/notifications');
  const isUnread = notification.read_at === null;
  const Icon = isUnread ? MailOpen : Mail;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t('actions', { title: notification.title })}
        >
          <Ellipsis size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<Icon size={16} />}
          onClick={() => actions.setRead(notification, isUnread)}
        >
          {isUnread ? t('mark_read') : t('mark_unread')}
        </Menu.Item>
        <Menu.Item leftSection={<Trash2 size={16} />} onClick={remove}>
          {t('delete.action')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
