import { useTranslation } from 'react-i18next';
import { JobState } from '@/kit/components/JobProgress';
import { type Job, TONES } from './values';

/** The state of a job in words, with its share while it runs. */
export function JobStatus({ job }: { job: Job }) {
  const { t } = useTranslation('intake/ingestion_jobs');
  return (
    <JobState tone={TONES[job.status]} isRunning={job.status === 'running'} progress={job.progress}>
      {t(`statuses.${job.status}`)}
    </JobState>
  );
}
