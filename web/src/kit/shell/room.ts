/** Pages that need the whole width hide the navigation; the menu button shows it. */
import { useRouterState } from '@tanstack/react-router';
import { currentOrganization } from '@/kit/session/organization';

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The page needs the whole width. */
    isWide?: boolean;
  }
}

export const WIDE = { isWide: true } as const;

export function useIsFullWidth(): boolean {
  return useRouterState({
    select: ({ matches }) => matches.some(({ staticData }) => staticData.isWide),
  });
}

/** Returns the organization of the address, also after it was switched. */
export function useOrganization(): string | undefined {
  return useRouterState({ select: () => currentOrganization() });
}
