import { getRouteApi } from '@tanstack/react-router';
import { $api } from '@/kit/api/client';
import { isApiError } from '@/kit/api/errors';
import { Loading } from '@/kit/components/Loading';
import { Decided } from './Decided';
import { Review } from './Review';

const route = getRouteApi('/work/review/$itemId');

function Item({ itemId }: { itemId: string }) {
  const { data, error } = $api.useQuery(
    'get',
    '/api/v1/review-queue/{item_id}',
    { params: { path: { item_id: itemId } } },
    { gcTime: 0, staleTime: Infinity },
  );
  const failure: unknown = error;
  // What is decided has left the queue, but can be read and reopened.
  if (isApiError(failure) && failure.status === 404) return <Decided tagSetId={itemId} />;
  if (data) return <Review item={data.data} />;
  if (failure) throw failure as Error;
  return <Loading />;
}

export function ReviewPage() {
  const { itemId } = route.useParams();
  return <Item key={itemId} itemId={itemId} />;
}
