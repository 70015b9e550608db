import type { DaySearch } from '@/insight/figures';
import { readChoice, readDay, readId, readText } from '@/kit/lists/search';

type Search = Record<string, unknown>;

export const METRICS = [
  'agreement',
  'acceptance_rate',
  'correction_rate',
  'gold_accuracy',
  'throughput',
  'seconds_spent',
] as const;
export const BUCKETS = ['day', 'week', 'month'] as const;
export const GROUPS = ['schema', 'field', 'team', 'labeler'] as const;

export type Metric = (typeof METRICS)[number];
export type Bucket = (typeof BUCKETS)[number];
export type Group = (typeof GROUPS)[number];

/** What all pages of quality have in their address. */
export interface QualitySearch extends DaySearch {
  schema_id?: string | undefined;
  field?: string | undefined;
  cursor?: string | undefined;
}

export interface TrendSearch extends QualitySearch {
  metric?: Metric | undefined;
  bucket?: Bucket | undefined;
  group_by?: Group | undefined;
  team_id?: string | undefined;
  labeler_id?: string | undefined;
}

export function readQuality(search: Search): QualitySearch {
  return {
    schema_id: readId(search, 'schema_id'),
    field: readText(search, 'field'),
    from: readDay(search, 'from'),
    to: readDay(search, 'to'),
    cursor: readText(search, 'cursor'),
  };
}

export function readTrend(search: Search): TrendSearch {
  return {
    ...readQuality(search),
    metric: readChoice(search, 'metric', METRICS),
    bucket: readChoice(search, 'bucket', BUCKETS),
    group_by: readChoice(search, 'group_by', GROUPS),
    team_id: readId(search, 'team_id'),
    labeler_id: readId(search, 'labeler_id'),
  };
}
