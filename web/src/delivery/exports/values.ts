import type { Schemas } from '@/kit/api/types';
import type { Tone } from '@/kit/components/StatusBadge';

export type Export = Schemas['Export'];
export type Run = Schemas['ScheduledExportRun'];
export type Format = Schemas['ExportFormat'];

export const STATUSES = [
  'queued',
  'running',
  'completed',
  'failed',
  'cancelled',
] as const satisfies Export['status'][];

export const TONES: Record<Run['status'], Tone> = {
  queued: 'neutral',
  running: 'active',
  delivering: 'active',
  completed: 'good',
  failed: 'bad',
  cancelled: 'neutral',
};

/** Returns whether a job or a run is not over. */
export function isPending(status: Run['status']): boolean {
  return status === 'queued' || status === 'running' || status === 'delivering';
}

interface WithFile {
  status: Run['status'];
  expires_at: string | null;
  download_path: string | null;
}

/** Returns whether a completed job has no file any more. */
export function hasExpired(job: WithFile): boolean {
  return job.status === 'completed' && job.download_path === null;
}
