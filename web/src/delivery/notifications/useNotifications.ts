import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { findTarget } from '@/identity/mail_links';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { fullPath } from '@/kit/session/organization';

export type Notification = Schemas['Notification'];

export const LIST = '/api/v1/notifications';

/** Returns the address of what a notification is about, in its own organization. */
export function addressOf({ link, organization }: Notification): string | undefined {
  if (link === null) return undefined;
  const [path = '', query] = link.replace(/^\/api\/v1\//, '').split('?');
  return fullPath(organization.slug, findTarget(path, query));
}

/** What can be done with notifications. Afterwards the lists and the number are read again. */
export function useNotificationActions() {
  const client = useQueryClient();
  const router = useRouter();
  const refresh = () =>
    client.invalidateQueries({
      predicate: ({ queryKey }) => String(queryKey[1]).startsWith(LIST),
    });
  const read = $api.useMutation('post', '/api/v1/notifications/{notification_id}/read', {
    onSuccess: refresh,
  });
  const readAll = $api.useMutation('post', '/api/v1/notifications/read-all', {
    onSuccess: refresh,
  });
  // Refused if an event was added since the list was read; then the list shows that event, too.
  const remove = $api.useMutation('delete', '/api/v1/notifications/{notification_id}', {
    onSettled: refresh,
  });
  const paramsOf = ({ id }: Notification) => ({ path: { notification_id: id } });
  // With `count`, an event that was added since the list was read does not count as read.
  const setRead = (notification: Notification, isRead: boolean) =>
    read.mutate({
      params: paramsOf(notification),
      body: { read: isRead, count: notification.count },
    });
  return {
    setRead,
    readAll: () => readAll.mutate({}),
    remove: (notification: Notification, done: () => void) =>
      remove.mutate(
        { params: { ...paramsOf(notification), query: { count: notification.count } } },
        { onSuccess: done },
      ),
    /** Marks it as read, and goes to its page. Returns whether there is one. */
    open(notification: Notification): boolean {
      if (notification.read_at === null) setRead(notification, true);
      const address = addressOf(notification);
      if (address !== undefined) router.history.push(address);
      return address !== undefined;
    },
    error: read.error ?? readAll.error,
    isReadingAll: readAll.isPending,
    removing: { error: remove.error, isPending: remove.isPending },
  };
}
