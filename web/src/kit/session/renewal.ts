/**
 * What happens when the token has expired: a dialog asks for the password over the page, and the
 * request that failed is sent again. Nothing on the page is lost.
 */
import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let waiting: ((renewed: boolean) => void) | undefined;
let running: Promise<boolean> | undefined;

function notify(): void {
  for (const listener of listeners) listener();
}

/** Asks the user to sign in again; resolves to whether there is a new token. */
export function renewSession(): Promise<boolean> {
  if (running) return running;
  running = new Promise<boolean>((resolve) => {
    waiting = resolve;
  });
  notify();
  return running;
}

export function finishRenewal(renewed: boolean): void {
  waiting?.(renewed);
  waiting = undefined;
  running = undefined;
  notify();
}

/** Whether the dialog is open. */
export function useRenewal(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => running !== undefined,
  );
}
