export { JobsTable } from './JobsTable';
export { JobProgress, JobStatus } from './JobProgress';
export { isRunning, type Job } from './values';
