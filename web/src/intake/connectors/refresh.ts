import { refreshBelow } from '@/kit/api/queryClient';

/** Reads everything about connectors and their jobs again, after a change. */
export const refresh = () => refreshBelow('/api/v1/connectors', '/api/v1/ingestion-jobs');
