import { $api } from '@/kit/api/client';
import { useFormat } from '@/kit/i18n/format';
import { useMay } from '@/kit/session/may';

/** Returns how to write the days of an invoice as its file does: in the zone of the profile. */
export function useInvoiceDays() {
  const format = useFormat();
  const may = useMay();
  const profile = $api.useQuery(
    'get',
    '/api/v1/billing/profile',
    {},
    { enabled: may('billing:manage') },
  );
  const timeZone = profile.data?.data.time_zone ?? 'UTC';
  return {
    day: (value: string) => format.dayIn(timeZone, value),
    /** Operators name the day of a payment in UTC. */
    paymentDay: (value: string) => format.dayIn('UTC', value),
  };
}
