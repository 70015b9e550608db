/** The state of the pages about schemas, as the address has it. */

export const STATUSES = ['draft', 'active', 'inactive'] as const;
export type SchemaStatus = (typeof STATUSES)[number];

export const SORTS = [
  'name',
  '-name',
  'created_at',
  '-created_at',
  'updated_at',
  '-updated_at',
] as const;
export type SchemaSort = (typeof SORTS)[number];

export const INDUSTRIES = [
  'finance',
  'healthcare',
  'human_resources',
  'identity',
  'insurance',
  'legal',
  'logistics',
  'real_estate',
  'tax',
  'utilities',
] as const;
export type Industry = (typeof INDUSTRIES)[number];

export const TABS = ['fields', 'settings', 'versions'] as const;
export type SchemaTab = (typeof TABS)[number];

function oneOf<Value extends string>(values: readonly Value[], value: unknown): Value | undefined {
  return values.find((known) => known === value);
}

const text = (value: unknown) =>
  typeof value === 'string' && value !== '' ? value.slice(0, 100) : undefined;

export interface SchemaSearch {
  status?: SchemaStatus;
  document_type?: string;
  sort?: SchemaSort;
}

export function parseSearch(search: Record<string, unknown>): SchemaSearch {
  const status = oneOf(STATUSES, search['status']);
  const type = text(search['document_type']);
  const sort = oneOf(SORTS, search['sort']);
  return {
    ...(status && { status }),
    ...(type && { document_type: type }),
    ...(sort && { sort }),
  };
}

export interface DetailSearch {
  tab?: SchemaTab;
  /** The number of the version that is compared, and of the one that it is compared with. */
  version?: number;
  against?: number;
}

export function parseDetailSearch(search: Record<string, unknown>): DetailSearch {
  const tab = oneOf(TABS, search['tab']);
  const number = (value: unknown) =>
    typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined;
  const version = number(search['version']);
  const against = number(search['against']);
  return { ...(tab && { tab }), ...(version && { version }), ...(against && { against }) };
}

export interface TemplateSearch {
  industry?: Industry;
  q?: string;
  template?: string;
}

export function parseTemplateSearch(search: Record<string, unknown>): TemplateSearch {
  const industry = oneOf(INDUSTRIES, search['industry']);
  const q = text(search['q']);
  const template = text(search['template']);
  return { ...(industry && { industry }), ...(q && { q }), ...(template && { template }) };
}
