/** Pages that need the whole width hide the navigation; the menu button shows it. */
import { useEffect, useSyncExternalStore } from 'react';

let pages = 0;
const listeners = new Set<() => void>();

function change(by: number): void {
  pages += by;
  for (const listener of listeners) listener();
}

/** Hides the navigation while the component is mounted. */
export function useFullWidth(): void {
  useEffect(() => {
    change(1);
    return () => change(-1);
  }, []);
}

export function useIsFullWidth(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => pages > 0,
  );
}
