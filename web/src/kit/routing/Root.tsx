import { Outlet } from '@tanstack/react-router';
import { Suspense } from 'react';
import { Loading } from '@/kit/components/Loading';
import { KeysOverlay } from '@/kit/keys/KeysOverlay';
import { RenewalDialog } from '@/kit/session/RenewalDialog';

export function Root() {
  return (
    <Suspense fallback={<Loading />}>
      <Outlet />
      <KeysOverlay />
      <RenewalDialog />
    </Suspense>
  );
}
