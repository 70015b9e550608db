import type { UseFormReturnType } from '@mantine/form';
import { createContext, useContext } from 'react';

/** The record that a form edits, while somebody else may change it. */
export interface Edited {
  /** The revision that the next save is based on. */
  revision: number;
  /** Goes on from a newer revision: what is saved next replaces what somebody else has changed. */
  keep: (revision: number) => void;
  /** Goes on from the revision of a save by this form, which stays as it is. */
  goOn: (revision: number) => void;
  /** Reads the record again, and begins a new form. */
  drop: () => void;
}

export const EditedContext = createContext<Edited | undefined>(undefined);

/**
 * Returns a function to be called with the revision of a save, after which the form stays: what was typed
 * meanwhile is based on it.
 */
export function useSaved(): (revision: number) => void {
  const edited = useContext(EditedContext);
  return (revision) => edited?.goOn(revision);
}

type Form<Values> = Pick<UseFormReturnType<Values>, 'getValues' | 'setValues' | 'resetDirty'>;

/** Shows what the service has saved; what was typed while it was sent stays, as a change of that. */
export function showSaved<Values extends object>(
  form: Form<Values>,
  sent: Values,
  saved: Values,
): void {
  const now = form.getValues();
  const names = Object.keys(saved) as (keyof Values)[];
  const typed = names.filter((name) => JSON.stringify(now[name]) !== JSON.stringify(sent[name]));
  form.setValues({ ...saved, ...Object.fromEntries(typed.map((name) => [name, now[name]])) });
  form.resetDirty(saved);
}
