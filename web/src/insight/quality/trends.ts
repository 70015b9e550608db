/** What a caller may see over time, and how the answer becomes rows of a chart and a table. */
import type { Schemas } from '@/kit/api/types';
import {
  BUCKETS,
  GROUPS,
  METRICS,
  type Bucket,
  type Group,
  type Metric,
  type TrendSearch,
} from './search';

const BY_FIELD: readonly Metric[] = ['agreement', 'correction_rate', 'gold_accuracy'];

export interface Rights {
  /** Sees the work of single other people. */
  isReviewer: boolean;
  /** Sees the own work. */
  isLabeler: boolean;
}

export interface Choices {
  metrics: readonly Metric[];
  buckets: readonly Bucket[];
  groups: readonly Group[];
}

/** Returns what can be chosen together with the rest of the search. */
export function listChoices(search: TrendSearch, rights: Rights): Choices {
  const aboutField = search.field !== undefined || search.group_by === 'field';
  const hidesGold = !rights.isReviewer;
  const metrics = aboutField
    ? BY_FIELD.filter((metric) => !hidesGold || metric !== 'gold_accuracy')
    : METRICS;
  const buckets =
    hidesGold && search.metric === 'gold_accuracy'
      ? BUCKETS.filter((bucket) => bucket === 'week')
      : BUCKETS;
  const groups = GROUPS.filter(
    (group) =>
      (group !== 'field' ||
        (search.schema_id !== undefined &&
          BY_FIELD.includes(search.metric ?? 'agreement') &&
          !(hidesGold && search.metric === 'gold_accuracy'))) &&
      (group !== 'team' || rights.isReviewer) &&
      (group !== 'labeler' || rights.isLabeler),
  );
  return { metrics, buckets, groups };
}

/** Returns the search without what the API would refuse. */
export function tidySearch(search: TrendSearch, rights: Rights): TrendSearch {
  const tidy = { ...search };
  if (tidy.schema_id === undefined) {
    tidy.field = undefined;
    if (tidy.group_by === 'field') tidy.group_by = undefined;
  }
  if (!rights.isReviewer) {
    tidy.team_id = undefined;
    tidy.labeler_id = undefined;
  }
  const choices = listChoices(tidy, rights);
  tidy.metric = choices.metrics.find((one) => one === tidy.metric);
  tidy.bucket = choices.buckets.find((one) => one === tidy.bucket) ?? choices.buckets[0];
  tidy.group_by = choices.groups.find((one) => one === tidy.group_by);
  return tidy;
}

export interface TrendRow {
  at: string;
  from: string;
  [line: string]: string | number | null;
}

export interface TrendLine {
  key: string;
  name: string;
  points: Schemas['TrendSeries']['points'];
}

/** Returns the lines; the one of everything has the name that is given. */
export function listLines(trends: Schemas['QualityTrends'], all: string): TrendLine[] {
  return trends.series.map(({ key, name, points }) => ({
    key: `line:${key ?? 'all'}`,
    name: name ?? key ?? all,
    points,
  }));
}

/** Returns a row for each period, with the value of each line. */
export function listRows(
  lines: readonly TrendLine[],
  nameDay: (day: string) => string,
): TrendRow[] {
  const rows = new Map<string, TrendRow>();
  for (const { key, points } of lines) {
    for (const { from, value } of points) {
      const row = rows.get(from) ?? { at: nameDay(from), from };
      row[key] = value;
      rows.set(from, row);
    }
  }
  return [...rows.values()].sort((a, b) => a.from.localeCompare(b.from));
}
