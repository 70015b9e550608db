/** The draft of a schema while it is edited. */
import { randomKey } from '@/kit/api/idempotency';
import type { Schemas } from '@/kit/api/types';

export type FieldType = Schemas['SchemaField']['type'];
export type Constraints = Record<string, unknown>;

export const TYPES: readonly FieldType[] = [
  'text',
  'number',
  'integer',
  'money',
  'date',
  'time',
  'datetime',
  'boolean',
  'choice',
  'table',
  'span',
  'region',
  'email',
  'phone',
  'url',
  'country',
  'currency',
  'address',
];

export interface DraftOption {
  uid: string;
  value: string;
  label: string;
}

export interface DraftField {
  /** Stays while the key changes. */
  uid: string;
  key: string;
  label: string;
  type: FieldType;
  required: boolean;
  multiple: boolean;
  description: string;
  options: DraftOption[];
  constraints: Constraints;
  ai_assist: boolean;
  columns: DraftField[];
}

type ApiField = Schemas['TableColumn'] & { columns?: Schemas['TableColumn'][] };

const RANGE = ['min', 'max'] as const;
const TEXT = ['min_length', 'max_length', 'pattern'] as const;

/** The constraints that fit a type, in the order of the form. */
export function constraintsOf(type: FieldType): readonly string[] {
  switch (type) {
    case 'number':
    case 'integer':
    case 'date':
    case 'time':
    case 'datetime':
      return RANGE;
    case 'money':
      return [...RANGE, 'currencies'];
    case 'text':
      return [...TEXT, 'formats'];
    case 'span':
    case 'email':
    case 'url':
      return TEXT;
    case 'phone':
      return ['pattern', 'formats'];
    case 'currency':
      return ['currencies'];
    default:
      return [];
  }
}

export function fromFields(fields: readonly ApiField[]): DraftField[] {
  return fields.map((field) => ({
    uid: randomKey(),
    key: field.key,
    label: field.label,
    type: field.type,
    required: field.required,
    multiple: field.multiple,
    description: field.description,
    options: field.options.map((option) => ({ uid: randomKey(), ...option })),
    constraints: { ...field.constraints },
    ai_assist: field.ai_assist,
    columns: fromFields(field.columns ?? []),
  }));
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === '' ||
    (Array.isArray(value) && value.length === 0)
  );
}

/** Keeps the constraints that the type has and that have a value. */
export function cleanConstraints(field: Pick<DraftField, 'type' | 'constraints'>): Constraints {
  const fitting = constraintsOf(field.type);
  const kept = Object.entries(field.constraints).filter(
    ([name, value]) => fitting.includes(name) && !isEmpty(value),
  );
  return Object.fromEntries(kept);
}

export function toBody(fields: readonly DraftField[]): Schemas['SchemaFieldBody'][] {
  return fields.map((field) => ({
    key: field.key,
    label: field.label === '' ? null : field.label,
    type: field.type,
    required: field.required,
    multiple: field.type === 'table' ? false : field.multiple,
    description: field.description,
    ai_assist: field.ai_assist,
    constraints: cleanConstraints(field),
    ...(field.type === 'choice' && {
      options: field.options.map(({ value, label }) => ({ value, label: label || null })),
    }),
    ...(field.type === 'table' && {
      columns: toBody(field.columns) as Schemas['TableColumnBody'][],
    }),
  }));
}

/** A key for a label: snake_case in Latin letters, at most 64 characters. */
export function keyFrom(label: string, taken: readonly string[] = []): string {
  const base =
    label
      .replaceAll('ß', 'ss')
      .normalize('NFKD')
      .replaceAll(/\p{M}/gu, '')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '_')
      .replaceAll(/^[_\d]+|_+$/g, '')
      .slice(0, 60) || 'field';
  if (!taken.includes(base)) return base;
  let number = 2;
  while (taken.includes(`${base}_${number}`)) number += 1;
  return `${base}_${number}`;
}

export function newField(type: FieldType, label: string, taken: readonly string[]): DraftField {
  return {
    uid: randomKey(),
    key: keyFrom(label, taken),
    label,
    type,
    required: false,
    multiple: type === 'span',
    description: '',
    options: [],
    constraints: {},
    ai_assist: true,
    columns: [],
  };
}

/**
 * Returns the key of a field whose label was changed. It follows the label until somebody has chosen another
 * one, or it was published: labels that were made with it have it.
 */
export function keyAfter(
  field: Pick<DraftField, 'key' | 'label'>,
  label: string,
  { others, published }: { others: readonly string[]; published: readonly string[] },
): string {
  const follows = field.key === keyFrom(field.label, others) && !published.includes(field.key);
  return follows ? keyFrom(label, others) : field.key;
}

/** Moves an element of a list to another place. */
export function moveItem<Item>(items: readonly Item[], from: number, to: number): Item[] {
  const next = [...items];
  const [item] = next.splice(from, 1);
  if (item !== undefined) next.splice(Math.max(0, Math.min(next.length, to)), 0, item);
  return next;
}

/** Replaces one field, wherever it is. */
export function replaceField(
  fields: readonly DraftField[],
  uid: string,
  changes: Partial<DraftField>,
): DraftField[] {
  return fields.map((field) =>
    field.uid === uid
      ? { ...field, ...changes }
      : { ...field, columns: replaceField(field.columns, uid, changes) },
  );
}

/** The path that an error of the API has for a field: `fields.2.columns.0`. */
export function pathOf(fields: readonly DraftField[], uid: string): string | undefined {
  for (const [index, field] of fields.entries()) {
    if (field.uid === uid) return `fields.${index}`;
    const column = field.columns.findIndex((one) => one.uid === uid);
    if (column >= 0) return `fields.${index}.columns.${column}`;
  }
  return undefined;
}
