import { useNavigate } from '@tanstack/react-router';
import { $api } from '@/kit/api/client';

/** Claims the next item of the queue and goes there. Resolves to whether there was one. */
export function useNextReview() {
  const navigate = useNavigate();
  const next = $api.useMutation('post', '/api/v1/review-queue/next');
  const go = async (exclude: string[] = []) => {
    const { data } = await next.mutateAsync({ body: { exclude } });
    if (!data) return false;
    await navigate({ to: '/review/$itemId', params: { itemId: data.id }, replace: true });
    return true;
  };
  return { go, error: next.error };
}
