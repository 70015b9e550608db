import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';

interface Period {
  from: string;
  to: string;
}

/** Returns how to write the months of billing, which are those of UTC; the end is exclusive. */
export function usePeriod(): (period: Period) => string {
  const { i18n } = useTranslation();
  return useMemo(() => {
    const format = new Intl.DateTimeFormat(i18n.language, {
      dateStyle: 'medium',
      timeZone: 'UTC',
    });
    return ({ from, to }: Period) =>
      format.formatRange(new Date(from), new Date(Date.parse(to) - 1));
  }, [i18n.language]);
}
