/** What was typed and not saved: before it would be lost with its page or dialog, the user is asked. */
import { createContext, useContext, useLayoutEffect, useState, useSyncExternalStore } from 'react';

/** The forms with changes, and whether the tab keeps these when the page is left. */
const unsaved = new Map<symbol, boolean>();
const listeners = new Set<() => void>();
let answer: ((mayDiscard: boolean) => void) | undefined;

/** Registers a form with changes until the returned function is called. */
export function holdChanges(keptInTab = false): () => void {
  const form = Symbol('form');
  unsaved.set(form, keptInTab);
  return () => void unsaved.delete(form);
}

/** Returns whether closing the tab would lose something. */
export function hasUnsaved(): boolean {
  return unsaved.size > 0;
}

/** Answers the question that is asked. */
export function answerDiscard(mayDiscard: boolean): void {
  const resolve = answer;
  answer = undefined;
  for (const listener of listeners) listener();
  resolve?.(mayDiscard);
}

/** Asks the user, and returns whether the changes may be discarded. Only the last question is open. */
export function askToDiscard(): Promise<boolean> {
  answerDiscard(false);
  return new Promise((resolve) => {
    answer = resolve;
    for (const listener of listeners) listener();
  });
}

/** Returns whether the page may be left: nothing is unsaved, or the user discards it. */
export async function mayLeave(): Promise<boolean> {
  return [...unsaved.values()].every(Boolean) || askToDiscard();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Returns whether the question is open. */
export function useIsAsked(): boolean {
  const isAsked = () => answer !== undefined;
  return useSyncExternalStore(subscribe, isAsked, isAsked);
}

type Report = (isDirty: boolean) => void;

/** What is around a form and waits for it: a dialog, or a record that may be replaced. */
export const AroundForm = createContext<Report>(() => undefined);

interface Props {
  isDirty: boolean;
  /** The changes are kept in this tab when its page is left, and are lost when it is closed. */
  keptInTab?: boolean;
}

/**
 * Put this into a form: it asks before changes are lost with the page or the dialog. After saving,
 * navigate with `ignoreBlocker`.
 */
export function Unsaved({ isDirty, keptInTab = false }: Props): null {
  const report = useContext(AroundForm);
  // What leaves at once, such as the page of an ended session, does not find it any more.
  useLayoutEffect(() => {
    if (!isDirty) return undefined;
    const release = holdChanges(keptInTab);
    report(true);
    return () => {
      release();
      report(false);
    };
  }, [isDirty, keptInTab, report]);
  return null;
}

/** Returns whether a value is no longer what it was first. */
export function useIsChanged(value: unknown): boolean {
  const text = JSON.stringify(value);
  const [first] = useState(text);
  return text !== first;
}
