/** Conditions of a rule as a tree that is edited, with the operators that each attribute has. */
import { randomKey } from '@/kit/api/idempotency';

export const TEXT_OPERATORS = [
  'equals',
  'not_equals',
  'in',
  'not_in',
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'matches',
  'exists',
  'not_exists',
] as const;
export const NUMBER_OPERATORS = [
  'equals',
  'not_equals',
  'in',
  'not_in',
  'greater_than',
  'at_least',
  'less_than',
  'at_most',
  'exists',
  'not_exists',
] as const;
export const ID_OPERATORS = [
  'equals',
  'not_equals',
  'in',
  'not_in',
  'exists',
  'not_exists',
] as const;

export type Operator = (typeof TEXT_OPERATORS)[number] | (typeof NUMBER_OPERATORS)[number];
export type Kind = 'text' | 'number' | 'id' | 'metadata';

export const ATTRIBUTES = {
  name: 'text',
  text: 'text',
  media_type: 'text',
  language: 'text',
  page_count: 'number',
  size_bytes: 'number',
  confidence: 'number',
  schema_id: 'id',
  connector_id: 'id',
} as const satisfies Record<string, Kind>;
export type Attribute = keyof typeof ATTRIBUTES;
export const METADATA = 'metadata.';
export const MOST_LEVELS = 5;

export interface Condition {
  uid: string;
  attribute: string;
  operator: Operator;
  /** As typed; lists have one value per element. */
  value: string | string[];
}

export interface Group {
  uid: string;
  mode: 'all' | 'any';
  items: Node[];
}

export type Node = Condition | Group;

export interface ApiNode {
  all?: ApiNode[];
  any?: ApiNode[];
  attribute?: string;
  operator?: Operator;
  value?: unknown;
}

const uid = () => randomKey();

export function isGroup(node: Node): node is Group {
  return 'items' in node;
}

export function kindOf(attribute: string): Kind {
  if (attribute.startsWith(METADATA)) return 'metadata';
  return attribute in ATTRIBUTES ? ATTRIBUTES[attribute as Attribute] : 'text';
}

export function operatorsOf(attribute: string): readonly Operator[] {
  const kind = kindOf(attribute);
  if (kind === 'number') return NUMBER_OPERATORS;
  if (kind === 'id') return ID_OPERATORS;
  if (kind === 'text') return TEXT_OPERATORS;
  return [...new Set<Operator>([...TEXT_OPERATORS, ...NUMBER_OPERATORS])];
}

export const takesNoValue = (operator: Operator) =>
  operator === 'exists' || operator === 'not_exists';
export const takesList = (operator: Operator) => operator === 'in' || operator === 'not_in';

export function newCondition(attribute = 'name'): Condition {
  return { uid: uid(), attribute, operator: operatorsOf(attribute)[0] ?? 'equals', value: '' };
}

export function newGroup(mode: Group['mode'], items: Node[] = []): Group {
  return { uid: uid(), mode, items };
}

function toText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function toNode(node: ApiNode): Node {
  if (node.all) return newGroup('all', node.all.map(toNode));
  if (node.any) return newGroup('any', node.any.map(toNode));
  const { value } = node;
  return {
    uid: uid(),
    attribute: node.attribute ?? 'name',
    operator: node.operator ?? 'equals',
    value: Array.isArray(value) ? value.map(toText) : toText(value),
  };
}

/** The conditions of the API; none is an empty group, which every document matches. */
export function fromConditions(conditions: unknown): Group {
  const node = conditions as ApiNode;
  if (!node.all && !node.any) return newGroup('all');
  return toNode(node) as Group;
}

/** A value with the type that the attribute compares: metadata may be a number, a boolean or a text. */
function toValue(attribute: string, operator: Operator, text: string): string | number | boolean {
  const kind = kindOf(attribute);
  const isNumber = text.trim() !== '' && Number.isFinite(Number(text));
  if (kind === 'number' && isNumber) return Number(text);
  if (kind !== 'metadata') return text;
  const compares = (NUMBER_OPERATORS as readonly string[]).includes(operator);
  if (compares && isNumber && String(Number(text)) === text.trim()) return Number(text);
  if (compares && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function toApi(node: Node): ApiNode {
  if (isGroup(node)) return { [node.mode]: node.items.map(toApi) };
  const { attribute, operator, value } = node;
  if (takesNoValue(operator)) return { attribute, operator };
  if (takesList(operator)) {
    const list = Array.isArray(value) ? value : [value].filter((one) => one !== '');
    return { attribute, operator, value: list.map((one) => toValue(attribute, operator, one)) };
  }
  const text = Array.isArray(value) ? (value[0] ?? '') : value;
  return { attribute, operator, value: toValue(attribute, operator, text) };
}

export function toConditions(group: Group): ApiNode {
  return group.items.length === 0 ? {} : toApi(group);
}

/** Changes a condition so that its operator and value fit its attribute. */
export function fit(condition: Condition): Condition {
  const operators = operatorsOf(condition.attribute);
  const operator = operators.includes(condition.operator)
    ? condition.operator
    : (operators[0] ?? 'equals');
  const { value } = condition;
  if (takesList(operator) && !Array.isArray(value))
    return { ...condition, operator, value: value === '' ? [] : [value] };
  if (!takesList(operator) && Array.isArray(value))
    return { ...condition, operator, value: value[0] ?? '' };
  return { ...condition, operator };
}
