import { refreshBelow } from '@/kit/api/queryClient';

/** Reads everything about webhooks again, after a change. */
export const refresh = () => refreshBelow('/api/v1/webhooks');
