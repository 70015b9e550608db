import { useMemo, useState } from 'react';
import type { Selection } from './VirtualTable';

export interface Selected extends Selection {
  ids: readonly string[];
  /** Everything that the filters match, beyond what is loaded. */
  everything: boolean;
  selectEverything: () => void;
  clear: () => void;
}

/** Returns the ids between two of a list, both included. */
export function idsBetween(ids: readonly string[], from: string, to: string): string[] {
  const [start, end] = [ids.indexOf(from), ids.indexOf(to)].sort((a, b) => a - b);
  if (start === undefined || end === undefined || start < 0) return [to];
  return ids.slice(start, end + 1);
}

export interface Marks {
  readonly chosen: ReadonlySet<string>;
  readonly everything: boolean;
  /** The row that was marked last: a range begins there, as long as its mark was not cleared. */
  readonly anchor?: string;
}

const NONE: Marks = { chosen: new Set(), everything: false };

/** Marks or unmarks a row, or with `range` all rows from the one that was marked last. */
export function toggleMarks(
  { chosen, everything, anchor }: Marks,
  ids: readonly string[],
  id: string,
  range: boolean,
): Marks {
  const next = new Set(everything ? ids : chosen);
  const marked = range && anchor !== undefined ? idsBetween(ids, anchor, id) : [id];
  const add = !next.has(id);
  for (const one of marked) {
    if (add) next.add(one);
    else next.delete(one);
  }
  return { chosen: next, everything: false, anchor: id };
}

/** Rows that are marked. A change of `scope` (the filters) forgets them. */
export function useSelection(ids: readonly string[], scope: string): Selected {
  const [state, setState] = useState({ scope, marks: NONE });
  const marks = state.scope === scope ? state.marks : NONE;
  return useMemo(() => {
    const { chosen, everything } = marks;
    const set = (next: Marks) => setState({ scope, marks: next });
    const all = everything || (ids.length > 0 && ids.every((id) => chosen.has(id)));
    return {
      ids: [...chosen],
      everything,
      all,
      some: everything || chosen.size > 0,
      has: (id) => everything || chosen.has(id),
      toggle: (id, range) => set(toggleMarks(marks, ids, id, range)),
      toggleAll: () => set(all ? NONE : { chosen: new Set(ids), everything: false }),
      selectEverything: () => set({ chosen: new Set(ids), everything: true }),
      clear: () => set(NONE),
    };
  }, [ids, scope, marks]);
}
