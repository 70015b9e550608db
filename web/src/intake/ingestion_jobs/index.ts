export { JobsTable } from './JobsTable';
export { isRunning, type Job } from './values';
