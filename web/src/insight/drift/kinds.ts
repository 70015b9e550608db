export const STATUSES = ['open', 'acknowledged', 'closed'] as const;
export const SUBJECTS = ['model', 'labeling'] as const;
