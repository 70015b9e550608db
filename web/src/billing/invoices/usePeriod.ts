import { useMemo } from 'react';
import { useFormat } from '@/kit/i18n/format';

interface Period {
  from: string;
  to: string;
}

/** Returns how to write the months of billing, which are those of UTC; the end is exclusive. */
export function usePeriod(): (period: Period) => string {
  const { locale } = useFormat();
  return useMemo(() => {
    const format = new Intl.DateTimeFormat(locale, {
      dateStyle: 'medium',
      timeZone: 'UTC',
    });
    return ({ from, to }: Period) =>
      format.formatRange(new Date(from), new Date(Date.parse(to) - 1));
  }, [locale]);
}
