import { refreshBelow } from '@/kit/api/queryClient';

/** Reads everything about exports again, after a change. */
export const refresh = () => refreshBelow('/api/v1/exports');
