export { JobsTable } from './JobsTable';
export { JobProgress, JobStatus } from './JobProgress';
export { isPending } from './values';
