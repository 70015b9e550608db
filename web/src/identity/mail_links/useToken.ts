import { useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';

/** Returns the token of the link, and takes it out of the address, where others could read it. */
export function useToken(
  from: '/public/reset-password' | '/public/accept-invitation' | '/public/confirm-email',
): string {
  const search = useSearch({ from });
  const [token] = useState(search.token ?? '');
  useEffect(() => {
    window.history.replaceState(window.history.state, '', window.location.pathname);
  }, []);
  return token;
}
