import { lazy, Suspense } from 'react';

const Bell = lazy(() => import('./Bell').then((module) => ({ default: module.Bell })));

/** The bell in the header, which is loaded after the page. */
export function HeaderBell() {
  return (
    <Suspense fallback={null}>
      <Bell />
    </Suspense>
  );
}

export const header = [HeaderBell];
