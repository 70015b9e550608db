import { Alert, type AlertProps } from '@mantine/core';

/** An alert whose title has the contrast of text: Mantine colors it. */
export function Notice(props: AlertProps) {
  return <Alert {...props} styles={{ title: { color: 'var(--mantine-color-text)' } }} />;
}
