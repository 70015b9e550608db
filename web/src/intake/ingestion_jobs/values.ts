import type { Schemas } from '@/kit/api/types';
import type { Tone } from '@/kit/components/StatusBadge';

export type Job = Schemas['IngestionJob'];
export type Item = Schemas['IngestionItem'];

export const STATUSES = [
  'queued',
  'running',
  'completed',
  'completed_with_errors',
  'failed',
  'cancelled',
] as const satisfies Job['status'][];

export const JOB_KINDS = [
  'import',
  'crawl',
  'extract',
  'reprocess',
] as const satisfies Job['kind'][];

export const ITEM_STATUSES = [
  'failed',
  'created',
  'duplicate',
  'skipped',
  'processing',
] as const satisfies Item['status'][];

export const TONES: Record<Job['status'], Tone> = {
  queued: 'neutral',
  running: 'active',
  completed: 'good',
  completed_with_errors: 'warning',
  failed: 'bad',
  cancelled: 'neutral',
};

export const ITEM_TONES: Record<Item['status'], Tone> = {
  processing: 'active',
  created: 'good',
  duplicate: 'neutral',
  skipped: 'neutral',
  failed: 'bad',
};

/** Returns whether a job is not over. */
export function isPending(status: Job['status']): boolean {
  return status === 'queued' || status === 'running';
}

export function isRunning(job: Job): boolean {
  return isPending(job.status);
}

/** Returns whether a job has something to try again. */
export function canRetry(job: Job): boolean {
  return job.status === 'completed_with_errors' || job.status === 'failed';
}
