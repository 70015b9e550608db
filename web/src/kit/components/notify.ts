import { notifications } from '@mantine/notifications';

/** Says shortly that something was done. */
export function notifyDone(message: string): void {
  notifications.show({ message, color: 'green' });
}

/** Shows the error of an action that has no place of its own for it. */
export function notifyError(error: unknown): void {
  notifications.show({
    color: 'red',
    message: error instanceof Error ? error.message : String(error),
  });
}
