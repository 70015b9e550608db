import { useTranslation } from 'react-i18next';
import { JobState } from '@/kit/components/JobProgress';
import { StatusBadge } from '@/kit/components/StatusBadge';
import { hasExpired, type Run, TONES } from './values';

interface Props {
  job: Pick<Run, 'status' | 'progress' | 'expires_at' | 'download_path'>;
}

/** The state of a job in one word, with its share while it runs. */
export function StatusCell({ job }: Props) {
  const { t } = useTranslation('delivery/exports');
  if (hasExpired(job)) return <StatusBadge tone="neutral">{t('expired')}</StatusBadge>;
  return (
    <JobState tone={TONES[job.status]} isRunning={job.status === 'running'} progress={job.progress}>
      {t(`statuses.${job.status}`)}
    </JobState>
  );
}
