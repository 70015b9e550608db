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

/** Rows that are marked. A change of `scope` (the filters) forgets them. */
export function useSelection(ids: readonly string[], scope: string): Selected {
  const [state, setState] = useState({ scope, chosen: new Set<string>(), everything: false });
  const [anchor, setAnchor] = useState<string>();
  const current = state.scope === scope ? state : undefined;
  return useMemo(() => {
    const chosen = current?.chosen ?? new Set<string>();
    const everything = current?.everything ?? false;
    const set = (next: Set<string>, all = false) =>
      setState({ scope, chosen: next, everything: all });
    return {
      ids: [...chosen],
      everything,
      all: everything || (ids.length > 0 && ids.every((id) => chosen.has(id))),
      some: everything || chosen.size > 0,
      has: (id) => everything || chosen.has(id),
      toggle(id, range) {
        const next = new Set(everything ? ids : chosen);
        const marked = range && anchor !== undefined ? idsBetween(ids, anchor, id) : [id];
        const add = !next.has(id);
        for (const one of marked) {
          if (add) next.add(one);
          else next.delete(one);
        }
        setAnchor(id);
        set(next);
      },
      toggleAll() {
        const all = everything || (ids.length > 0 && ids.every((id) => chosen.has(id)));
        set(new Set(all ? [] : ids));
      },
      selectEverything: () => set(new Set(ids), true),
      clear: () => set(new Set()),
    };
  }, [ids, scope, current, anchor]);
}
