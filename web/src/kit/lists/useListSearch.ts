import { useNavigate } from '@tanstack/react-router';
import { compact, hasFilter } from './search';

/**
 * Returns how to change the state of a list in the address. A change of a filter goes back to the
 * first page.
 */
export function useListSearch<Search extends { cursor?: string | undefined }>(search: Search) {
  const navigate = useNavigate();
  const change = (next: Search, replace: boolean) =>
    // The state is that of the present page, whose route checks it.
    void navigate({ to: '.', search: compact(next) as never, replace });
  return {
    filter: (changes: Partial<Search>) =>
      change({ ...search, ...changes, cursor: undefined }, true),
    /** Nothing to show means that nothing matches. */
    isFiltered: hasFilter(search),
    page: (cursor: string | undefined) => change({ ...search, cursor }, false),
  };
}
