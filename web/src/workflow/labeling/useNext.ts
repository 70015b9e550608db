import { useNavigate } from '@tanstack/react-router';
import { $api } from '@/kit/api/client';

/** Claims the next document and goes there; without one, goes to the page that says so. */
export function useNext() {
  const navigate = useNavigate();
  const next = $api.useMutation('post', '/api/v1/artifacts/next');
  const go = async (exclude: string[] = []) => {
    const { data } = await next.mutateAsync({ body: { exclude } });
    if (data) {
      await navigate({
        to: '/label/$artifactId',
        params: { artifactId: data.id },
        replace: true,
      });
      return true;
    }
    return false;
  };
  return { go, error: next.error, isPending: next.isPending };
}
