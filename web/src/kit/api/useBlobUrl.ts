import { skipToken, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { fetchBlob } from './client';

/**
 * Returns the address of a picture or file that only requests with a token can read. `path` begins
 * with `/api/v1/`. The address is revoked when the component is gone.
 */
export function useBlobUrl(path: string | undefined) {
  const query = useQuery({
    queryKey: ['blob', path],
    queryFn: path === undefined ? skipToken : ({ signal }) => fetchBlob(path, signal),
    staleTime: Infinity,
    gcTime: 60_000,
  });
  const url = useObjectUrl(query.data);
  return { url, error: query.error, isPending: query.isPending };
}

function useObjectUrl(blob: Blob | undefined): string | undefined {
  const [made, setMade] = useState<{ blob: Blob; url: string }>();
  useEffect(() => {
    if (!blob) return;
    const url = URL.createObjectURL(blob);
    // The address exists outside of React, and ends with this effect.
    // oxlint-disable-next-line react/set-state-in-effect
    setMade({ blob, url });
    return () => URL.revokeObjectURL(url);
  }, [blob]);
  // The address of the last picture is revoked; it must not be shown for the next one.
  return made?.blob === blob ? made?.url : undefined;
}
