import { useTranslation } from 'react-i18next';
import { useFormat } from '@/kit/i18n/format';
import { parseCron, zoneName } from './cron';

/** Returns the name of a weekday, from 0 (Sunday). */
export function weekdayName(day: number, locale: string, length: 'long' | 'short'): string {
  // January 1, 2023 was a Sunday.
  const date = new Date(Date.UTC(2023, 0, 1 + day));
  return new Intl.DateTimeFormat(locale, { weekday: length, timeZone: 'UTC' }).format(date);
}

const isWorkweek = (days: number[]) => days.join() === '1,2,3,4,5';

/** Returns a function that says a schedule in words: "every Monday at 06:00, Berlin". */
export function useScheduleWords() {
  const { t } = useTranslation('kit/schedules');
  const { locale } = useFormat();
  const listed = (days: number[]) =>
    new Intl.ListFormat(locale, { type: 'conjunction' }).format(
      days.map((day) => weekdayName(day, locale, 'long')),
    );
  return (cron: string, timeZone: string): string => {
    const schedule = parseCron(cron);
    const zone = zoneName(timeZone);
    switch (schedule.kind) {
      case 'minutes':
        return t('words.minutes', { count: schedule.every });
      case 'hourly':
        return t('words.hourly', { minute: schedule.minute });
      case 'daily':
        return t('words.daily', { time: schedule.time, zone });
      case 'weekly':
        return isWorkweek(schedule.days)
          ? t('words.workdays', { time: schedule.time, zone })
          : t('words.weekly', { days: listed(schedule.days), time: schedule.time, zone });
      case 'monthly':
        return t('words.monthly', { day: schedule.day, time: schedule.time, zone });
      case 'custom':
        return t('words.custom', { cron: schedule.cron, zone });
    }
  };
}
