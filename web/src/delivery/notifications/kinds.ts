/** What notifications are about: the values of the API. */
export const KINDS = [
  'assignment',
  'mention',
  'review_rejected',
  'export_ready',
  'export_failed',
  'connector_alert',
  'drift_detected',
  'webhook_deactivated',
  'api_key_creator_left',
  'invitation',
  'plan_limit',
] as const;

export const READ = ['unread', 'read'] as const;
