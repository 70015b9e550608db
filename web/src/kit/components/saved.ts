import { notifications } from '@mantine/notifications';

/** Says shortly that something was done. */
export function showDone(message: string): void {
  notifications.show({ message, color: 'green', autoClose: 3000 });
}
