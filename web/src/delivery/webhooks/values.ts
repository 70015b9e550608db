import type { Schemas } from '@/kit/api/types';
import type { Tone } from '@/kit/components/StatusBadge';

export type Webhook = Schemas['Webhook'];
export type Listed = Schemas['ListedWebhook'];
export type Details = Schemas['WebhookDetails'];
export type Delivery = Schemas['Delivery'];
export type EventName = Webhook['events'][number];

export const STATES = ['active', 'inactive'] as const;

export const DELIVERY_STATUSES = [
  'pending',
  'delivered',
  'failed',
  'abandoned',
  'skipped',
] as const satisfies Delivery['status'][];

export const REPLAYABLE = ['abandoned', 'failed', 'delivered', 'skipped'] as const;

export const DELIVERY_EVENTS = [
  'artifact.ingested',
  'tag_set.accepted',
  'export.completed',
  'connector.alert',
  'drift.detected',
  'test',
] as const satisfies Delivery['event'][];

export const DELIVERY_TONES: Record<Delivery['status'], Tone> = {
  pending: 'active',
  delivered: 'good',
  failed: 'warning',
  abandoned: 'bad',
  skipped: 'neutral',
};

export type Health = 'active' | 'failing' | 'inactive';

/** Returns the state of a webhook in one word: it fails while failures in a row are counted. */
export function webhookHealth(webhook: Webhook): Health {
  if (!webhook.active) return 'inactive';
  return webhook.consecutive_failures > 0 ? 'failing' : 'active';
}

export const HEALTH_TONES: Record<Health, Tone> = {
  active: 'good',
  failing: 'warning',
  inactive: 'bad',
};

/** Returns whether deliveries or a replay are on their way, so that the page reads again. */
export function isMoving(webhook: Details): boolean {
  const isReplaying = webhook.replay !== null && webhook.replay.finished_at === null;
  return isReplaying || (webhook.active && webhook.statistics.pending > 0);
}

export function isReplaying(webhook: Details): boolean {
  return webhook.replay !== null && webhook.replay.finished_at === null;
}
