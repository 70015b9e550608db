import { createContext, useContext } from 'react';

/** The record that a form edits, while somebody else may change it. */
export interface Edited {
  /** The revision that the next save is based on. */
  revision: number;
  /** Goes on from a newer revision: what is saved next replaces what somebody else has changed. */
  keep: (revision: number) => void;
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
  return (revision) => edited?.keep(revision);
}
