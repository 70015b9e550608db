/** What an export shall hold: entries of the form, and the body that they make. */
import { useState } from 'react';
import type { Schemas } from '@/kit/api/types';
import type { FieldValue } from '@/kit/forms/schema';

type Body = Schemas['CreateExport'];
type Filter = NonNullable<Body['filter']>;
type Include = NonNullable<Body['include']>;
export type TagSetStatus = NonNullable<Filter['statuses']>[number];
export type Tags = NonNullable<Include['tags']>;

export const TAG_SET_STATUSES = ['accepted', 'submitted', 'rejected', 'draft'] as const;
export const TAGS = ['accepted', 'final', 'latest', 'all'] as const;
export const PARTS = ['evidence', 'text', 'history'] as const;
export const CHOICES = ['auto', 'yes', 'no'] as const;
export const PERIODS = ['decided', 'created'] as const;
export type Part = (typeof PARTS)[number];
export type Choice = (typeof CHOICES)[number];
export type Period = (typeof PERIODS)[number];

export interface ExportRequest {
  format: string;
  options: Readonly<Record<string, FieldValue>>;
  schemaId: string | null;
  statuses: readonly TagSetStatus[];
  tags: Tags;
  parts: Readonly<Record<Part, Choice>>;
  /** The days of the period, both included, in the time zone of the browser. */
  period: Period;
  from: string;
  to: string;
  /** The filter that the service has stored. */
  stored: Filter;
  /** Its conditions that are not in the form, and stay. */
  hidden: Filter;
}

const EMPTY: ExportRequest = {
  format: 'jsonl',
  options: {},
  schemaId: null,
  statuses: [],
  tags: 'accepted',
  parts: { evidence: 'auto', text: 'auto', history: 'auto' },
  period: 'decided',
  from: '',
  to: '',
  stored: {},
  hidden: {},
};

/**
 * Returns when a day begins on the clock of the browser, some days later. The service refuses what is no day, such
 * as one of the year 20260.
 */
function startOf(day: string, later = 0): string {
  const date = new Date(`${day}T00:00`);
  if (isNaN(date.getTime())) return day;
  date.setDate(date.getDate() + later);
  return date.toISOString();
}

/** Returns the day of a time on the clock of the browser, some days earlier. */
function dayOf(time: string | null, earlier = 0): string {
  if (time === null) return '';
  const date = new Date(time);
  date.setDate(date.getDate() - earlier);
  const pad = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
}

/** Returns the limit that is stored if it is on this day, else the beginning of the day. */
function limitOf(stored: string | null | undefined, day: string, later = 0): string {
  return typeof stored === 'string' && dayOf(stored, later) === day ? stored : startOf(day, later);
}

function readPeriod({ period, from, to, stored }: ExportRequest): Filter {
  const [after, before] = [`${period}_after`, `${period}_before`] as const;
  return {
    ...(from !== '' && { [after]: limitOf(stored[after], from) }),
    ...(to !== '' && { [before]: limitOf(stored[before], to, 1) }),
  };
}

/** Returns the body of a request; what has its default is left out. */
export function toBody(request: ExportRequest): Body {
  const { schemaId, statuses, tags, parts } = request;
  const options = Object.fromEntries(
    Object.entries(request.options).filter(([, value]) => value !== ''),
  );
  const filter: Filter = {
    ...request.hidden,
    ...(schemaId !== null && { schema_id: schemaId }),
    ...(statuses.length > 0 && { statuses: [...statuses] }),
    ...readPeriod(request),
  };
  const chosen = PARTS.filter((part) => parts[part] !== 'auto');
  const include: Include = {
    ...(tags !== 'accepted' && { tags }),
    ...Object.fromEntries(chosen.map((part) => [part, parts[part] === 'yes'])),
  };
  return {
    format: request.format,
    ...(Object.keys(filter).length > 0 && { filter }),
    ...(Object.keys(options).length > 0 && { options }),
    ...(Object.keys(include).length > 0 && { include }),
  };
}

type Stored = Pick<Schemas['Export'], 'format' | 'filter' | 'options' | 'include'>;

/** Returns the entries of a request that the service has stored. */
export function readRequest({ format, filter, options, include }: Stored): ExportRequest {
  const has = (name: Period) => filter[`${name}_after`] ?? filter[`${name}_before`];
  const period = has('created') && !has('decided') ? 'created' : 'decided';
  const shown = ['schema_id', 'statuses', `${period}_after`, `${period}_before`];
  const conditions = Object.entries(filter).filter(([, value]) => value !== null);
  const choice = (value: boolean): Choice => (value ? 'yes' : 'no');
  return {
    format,
    options: options as ExportRequest['options'],
    schemaId: filter.schema_id,
    statuses: TAG_SET_STATUSES.filter((one) => filter.statuses.includes(one)),
    tags: TAGS.find((one) => one === include.tags) ?? 'accepted',
    parts: {
      evidence: choice(include.evidence),
      text: choice(include.text),
      history: choice(include.history),
    },
    period,
    from: dayOf(filter[`${period}_after`]),
    to: dayOf(filter[`${period}_before`], 1),
    stored: Object.fromEntries(conditions),
    hidden: Object.fromEntries(conditions.filter(([name]) => !shown.includes(name))),
  };
}

export function useExportRequest(start: Partial<ExportRequest> = {}) {
  const [request, setRequest] = useState<ExportRequest>({ ...EMPTY, ...start });
  const set = (changes: Partial<ExportRequest>) =>
    setRequest((now) => ({
      ...now,
      // Options belong to a format.
      ...(changes.format !== undefined && { options: {} }),
      ...changes,
    }));
  return { request, set };
}

export type SetRequest = ReturnType<typeof useExportRequest>['set'];
