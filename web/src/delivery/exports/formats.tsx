import { $api } from '@/kit/api/client';
import type { Format } from './values';

/** Returns the formats of the service; undefined until they are read. */
export function useFormats(): Format[] | undefined {
  const formats = $api.useQuery(
    'get',
    '/api/v1/export-formats',
    { params: { query: { page_size: 100 } } },
    { staleTime: Infinity },
  );
  return formats.data?.data;
}

export function FormatName({ format }: { format: string }) {
  const found = useFormats()?.find(({ id }) => id === format);
  return <>{found?.name ?? format}</>;
}
