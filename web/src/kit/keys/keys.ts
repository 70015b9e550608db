/**
 * Keys of the page. A component registers its actions with `useKeys`; `?` shows all that are
 * registered. Keys rest while a text is typed or a dialog is open, unless the action says otherwise.
 */
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { isComposing, matchesKey } from './matching';

export interface KeyAction {
  /** For example `n` or `mod+Enter`; several combinations may do the same. */
  keys: string | readonly string[];
  /** What the key does, shown by `?`. */
  text: string;
  run: (event: KeyboardEvent) => void;
  disabled?: boolean;
  /** Also while the focus is in an input. */
  inInputs?: boolean;
  /** Also while a dialog is open: for the actions of the dialog itself. */
  inDialogs?: boolean;
  /** Again and again while the key is held. What decides or sends something must not. */
  repeats?: boolean;
}

export interface KeyGroup {
  title: string;
  actions: readonly KeyAction[];
}

const groups: { current: KeyGroup }[] = [];
const listeners = new Set<() => void>();
let shown: readonly KeyGroup[] = [];

export const isMac = typeof navigator !== 'undefined' && navigator.userAgent.includes('Mac');

function notify(): void {
  shown = groups.map((group) => group.current);
  for (const listener of listeners) listener();
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable) return true;
  const isButton =
    target instanceof HTMLInputElement && /^(checkbox|radio|button)$/.test(target.type);
  return /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && !isButton;
}

/** Whether the key presses the button, or follows the link, that has the focus. */
function isPress({ key, ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean {
  if (key !== 'Enter' || ctrlKey || metaKey || altKey) return false;
  return target instanceof Element && target.closest('button, a[href], summary') !== null;
}

function handle(event: KeyboardEvent): void {
  if (event.defaultPrevented || isComposing(event) || isPress(event)) return;
  const typing = isTyping(event.target);
  const inDialog = document.querySelector('[role=dialog][aria-modal=true], [role=menu]') !== null;
  // What was registered last is nearest to the user.
  for (const group of groups.toReversed()) {
    for (const action of group.current.actions) {
      if (action.disabled || (typing && !action.inInputs) || (inDialog && !action.inDialogs))
        continue;
      const combinations = typeof action.keys === 'string' ? [action.keys] : action.keys;
      if (!combinations.some((combination) => matchesKey(combination, event, isMac))) continue;
      event.preventDefault();
      if (!event.repeat || action.repeats) action.run(event);
      return;
    }
  }
}

/** Registers actions while the component is mounted. `title` heads them in the overlay. */
export function useKeys(title: string, actions: readonly KeyAction[]): void {
  const entry = useRef<KeyGroup>({ title, actions });
  const signature = [
    title,
    ...actions.map(({ keys, text, disabled }) => `${String(keys)}${text}${String(disabled)}`),
  ].join('\n');
  useEffect(() => {
    entry.current = { title, actions };
  });
  useEffect(() => {
    notify();
  }, [signature]);
  useEffect(() => {
    if (groups.length === 0) window.addEventListener('keydown', handle);
    groups.push(entry);
    notify();
    return () => {
      groups.splice(groups.indexOf(entry), 1);
      if (groups.length === 0) window.removeEventListener('keydown', handle);
      notify();
    };
  }, []);
}

/** Returns all groups that are registered, for the overlay. */
export function useKeyGroups(): readonly KeyGroup[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown,
  );
}
