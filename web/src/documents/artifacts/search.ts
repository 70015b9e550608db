/** The filters of the list, as the address has them. */
import type { paths } from '@/kit/api/schema';

export type ArtifactQuery = NonNullable<paths['/api/v1/artifacts']['get']['parameters']['query']>;

export const STATUSES = [
  'ready',
  'in_progress',
  'in_review',
  'done',
  'processing',
  'failed',
] as const;
export type Status = (typeof STATUSES)[number];

const SORTS = [
  '-created_at',
  'created_at',
  'name',
  '-name',
  'priority',
  '-priority',
  'updated_at',
  '-updated_at',
] as const;
export type Sort = (typeof SORTS)[number];
export const DEFAULT_SORT: Sort = '-created_at';

export const OCR_STATES = ['none', 'pending', 'done', 'off', 'failed'] as const;
const ARCHIVED = ['true', 'any'] as const;

export interface DocumentSearch {
  q?: string;
  status?: Status[];
  schema?: string;
  assignee?: string;
  assigned?: boolean;
  archived?: (typeof ARCHIVED)[number];
  /** Days as 2026-11-26, both included, in the time zone of the reader. */
  created_from?: string;
  created_to?: string;
  due_from?: string;
  due_to?: string;
  ocr?: (typeof OCR_STATES)[number];
  media_type?: string;
  language?: string;
  gold?: boolean;
  parent?: string;
  sort?: Sort;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function oneOf<Value extends string>(values: readonly Value[], value: unknown): Value | undefined {
  return values.find((known) => known === String(value));
}

function matching(pattern: RegExp, value: unknown): string | undefined {
  return typeof value === 'string' && pattern.test(value) ? value : undefined;
}

function text(value: unknown, longest: number): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const trimmed = String(value).slice(0, longest);
  return trimmed === '' ? undefined : trimmed;
}

function statuses(value: unknown): Status[] | undefined {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  const known = STATUSES.filter((status) => list.includes(status));
  return known.length > 0 ? known : undefined;
}

const boolean = (value: unknown) => (typeof value === 'boolean' ? value : undefined);

/** Takes from an address what is valid, and drops the rest. */
export function parseSearch(search: Record<string, unknown>): DocumentSearch {
  const parsed: DocumentSearch = {
    q: text(search['q'], 500),
    status: statuses(search['status']),
    schema: matching(UUID, search['schema']),
    assignee: matching(UUID, search['assignee']),
    assigned: boolean(search['assigned']),
    archived: oneOf(ARCHIVED, search['archived']),
    created_from: matching(DAY, search['created_from']),
    created_to: matching(DAY, search['created_to']),
    due_from: matching(DAY, search['due_from']),
    due_to: matching(DAY, search['due_to']),
    ocr: oneOf(OCR_STATES, search['ocr']),
    media_type: text(search['media_type'], 200),
    language: text(search['language'], 35),
    gold: boolean(search['gold']),
    parent: matching(UUID, search['parent']),
    sort: oneOf(SORTS, search['sort']),
  };
  return withoutEmpty(parsed);
}

/** Drops members without a value, so that they are not in the address. */
export function withoutEmpty<Value extends object>(value: Value): Value {
  const entries = Object.entries(value).filter(
    ([, member]) =>
      member !== undefined &&
      member !== '' &&
      member !== null &&
      !(Array.isArray(member) && member.length === 0),
  );
  return Object.fromEntries(entries) as Value;
}

/** The start of a day in the time zone of the reader, `later` days after it. */
export function startOfDay(day: string | undefined, later = 0): string | undefined {
  if (day === undefined) return undefined;
  const [year, month, date] = day.split('-').map(Number);
  const start = new Date(year ?? 0, (month ?? 1) - 1, (date ?? 1) + later);
  return Number.isNaN(start.getTime()) ? undefined : start.toISOString();
}

/** The filters as the API has them. */
export function toFilters(
  search: DocumentSearch,
): Omit<ArtifactQuery, 'sort' | 'cursor' | 'page_size'> {
  return withoutEmpty({
    q: search.q?.trim(),
    status: search.status,
    schema_id: search.schema,
    assignee: search.assignee,
    assigned: search.assigned,
    archived: search.archived,
    created_after: startOfDay(search.created_from),
    created_before: startOfDay(search.created_to, 1),
    due_after: startOfDay(search.due_from),
    due_before: startOfDay(search.due_to, 1),
    ocr: search.ocr,
    media_type: search.media_type,
    language: search.language,
    gold: search.gold,
    parent_id: search.parent,
  });
}

/** How many filters are set, those of `basic` not counted. */
export function countFilters(
  search: DocumentSearch,
  basic: readonly (keyof DocumentSearch)[] = [],
): number {
  const others = Object.keys(withoutEmpty(search)).filter(
    (key) => key !== 'sort' && !basic.includes(key as keyof DocumentSearch),
  );
  return others.length;
}
