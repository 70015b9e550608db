/** Forms from a JSON Schema of settings: its properties as fields, and what is sent of them. */

export type FieldKind = 'text' | 'long' | 'secret' | 'number' | 'boolean' | 'option' | 'list';
export type FieldValue = string | number | boolean | string[];
export type Values = Readonly<Record<string, FieldValue>>;

export interface Field {
  name: string;
  kind: FieldKind;
  title: string | undefined;
  description: string | undefined;
  required: boolean;
  /** The value without an entry. */
  fallback: unknown;
  options: readonly string[];
  minimum: number | undefined;
  maximum: number | undefined;
  minLength: number;
  maxLength: number | undefined;
  pattern: string | undefined;
}

export interface Form {
  fields: readonly Field[];
  /** Names of which exactly one has a value; empty if there is no such choice. */
  choice: readonly string[];
  /** For a field, those that must have a value with it. */
  needs: Readonly<Record<string, readonly string[]>>;
}

const LONG = 4096;

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
const number = (value: unknown) => (typeof value === 'number' ? value : undefined);

function kindOf(rules: Json): FieldKind {
  if (Array.isArray(rules['enum'])) return 'option';
  if (rules['type'] === 'boolean') return 'boolean';
  if (rules['type'] === 'integer' || rules['type'] === 'number') return 'number';
  if (rules['type'] === 'array') return 'list';
  // Keys and certificates have several lines.
  const isLong = (number(rules['maxLength']) ?? 0) > LONG && rules['pattern'] === undefined;
  if (isLong) return 'long';
  return rules['writeOnly'] === true ? 'secret' : 'text';
}

/** Reads the properties of a schema in their order. */
export function readForm(schema: unknown): Form {
  const root = isObject(schema) ? schema : {};
  const required = texts(root['required']);
  const properties = isObject(root['properties']) ? root['properties'] : {};
  const fields = Object.entries(properties).map(([name, value]): Field => {
    const rules = isObject(value) ? value : {};
    return {
      name,
      kind: kindOf(rules),
      title: text(rules['title']),
      description: text(rules['description']),
      required: required.includes(name),
      fallback: rules['default'],
      options: texts(rules['enum']),
      minimum: number(rules['minimum']),
      maximum: number(rules['maximum']),
      minLength: number(rules['minLength']) ?? 0,
      maxLength: number(rules['maxLength']),
      pattern: text(rules['pattern']),
    };
  });
  const alternatives = Array.isArray(root['oneOf']) ? root['oneOf'] : [];
  const choice = alternatives.flatMap((one) => (isObject(one) ? texts(one['required']) : []));
  const dependent = isObject(root['dependentRequired']) ? root['dependentRequired'] : {};
  const needs = Object.fromEntries(
    Object.entries(dependent).map(([name, others]) => [name, texts(others)]),
  );
  return { fields, choice, needs };
}

/** Returns the alternative that has a value, or else the first. */
export function chosenOf(
  form: Form,
  values: Values,
  stored: readonly string[],
): string | undefined {
  const has = (name: string) => !isEmpty(values[name]) || stored.includes(name);
  return form.choice.find(has) ?? form.choice[0];
}

/** Returns the fields to show: of alternatives the chosen one, and nothing that needs another one. */
export function visibleFields(form: Form, chosen: string | undefined): Field[] {
  const hidden = form.choice.filter((name) => name !== chosen);
  return form.fields.filter(
    ({ name }) =>
      !hidden.includes(name) && !(form.needs[name] ?? []).some((other) => hidden.includes(other)),
  );
}

function isEmpty(value: FieldValue | undefined): boolean {
  return value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}

/** Returns what is sent: the entries of visible fields; empty ones are left out. */
export function collectValues(fields: readonly Field[], values: Values): Record<string, unknown> {
  const entries = fields.map(({ name }) => [name, values[name]] as const);
  return Object.fromEntries(entries.filter(([, value]) => !isEmpty(value)));
}

export type Problem = 'required' | 'pattern' | 'number' | 'short' | 'needed';

function problemOf(field: Field, value: FieldValue | undefined, isNeeded: boolean) {
  if (isEmpty(value)) {
    if (field.required && field.fallback === undefined) return 'required';
    return isNeeded ? 'needed' : undefined;
  }
  if (typeof value === 'number') {
    const { minimum = -Infinity, maximum = Infinity } = field;
    return value < minimum || value > maximum ? 'number' : undefined;
  }
  if (typeof value !== 'string' || field.kind === 'option') return undefined;
  if (value.length < field.minLength) return 'short';
  const matches = field.pattern === undefined || new RegExp(field.pattern, 'u').test(value);
  return matches ? undefined : 'pattern';
}

/** Returns the problem of each field that has one. Secrets that are stored need no entry. */
export function findProblems(
  form: Form,
  fields: readonly Field[],
  values: Values,
  stored: readonly string[],
): Record<string, Problem> {
  const problems: Record<string, Problem> = {};
  const needed = Object.entries(form.needs).flatMap(([name, others]) =>
    isEmpty(values[name]) ? [] : others,
  );
  for (const field of fields) {
    const isNeeded = needed.includes(field.name) || form.choice.includes(field.name);
    const problem = problemOf(field, values[field.name], isNeeded);
    const isStored = stored.includes(field.name) && isEmpty(values[field.name]);
    if (problem !== undefined && !isStored) problems[field.name] = problem;
  }
  return problems;
}

/** Returns the entries of a form for settings that exist. */
export function initialValues(form: Form, settings: Json): Record<string, FieldValue> {
  const values: Record<string, FieldValue> = {};
  for (const { name } of form.fields) {
    const value = settings[name];
    if (Array.isArray(value)) values[name] = texts(value);
    else if (['string', 'number', 'boolean'].includes(typeof value))
      values[name] = value as FieldValue;
  }
  return values;
}
