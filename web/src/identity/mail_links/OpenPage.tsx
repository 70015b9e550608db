import { Navigate, useParams, useRouter } from '@tanstack/react-router';
import { fullPath } from '@/kit/session/organization';
import { readSession } from '@/kit/session/store';
import { useEffect } from 'react';
import { Loading } from '@/kit/components/Loading';
import { findTarget } from './targets';

/** Leads from the link of a notification to its page, through the sign-in if that is needed. */
export function OpenPage() {
  const { slug, _splat: resource = '' } = useParams({ from: '/public/open/$slug/$' });
  const router = useRouter();
  const search = new URLSearchParams(window.location.search);
  search.delete('lang');
  const next = fullPath(slug, findTarget(resource, search.toString()));
  const isSignedIn = readSession() !== undefined;
  useEffect(() => {
    if (isSignedIn) router.history.replace(next);
  });
  return isSignedIn ? <Loading /> : <Navigate to="/sign-in" search={{ next }} replace />;
}
