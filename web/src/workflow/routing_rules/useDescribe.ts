import { useTranslation } from 'react-i18next';
import { usePeople } from '@/identity/pickers';
import { useSchemaList } from '@/schemas/artifact_schemas';
import { type ApiNode, ATTRIBUTES, type Attribute, METADATA, takesNoValue } from './conditions';

interface Target {
  team_id?: string | null;
  user_id?: string | null;
  strategy?: 'everyone' | 'round_robin' | 'least_loaded' | 'skills' | null;
  priority?: number | null;
  due_in_hours?: number | null;
  schema_id?: string | null;
}

/** Conditions and actions in words. */
export function useDescribe() {
  const { t } = useTranslation('workflow/routing_rules');
  const people = usePeople();
  const schemas = useSchemaList();

  const attribute = (name: string) =>
    name in ATTRIBUTES
      ? t(`attribute.${name as Attribute}`)
      : t('attribute.metadata_key', { key: name.slice(METADATA.length) });

  const value = (name: string, given: unknown): string => {
    if (given === null || given === undefined) return t('value.missing');
    if (Array.isArray(given)) return given.map((one) => value(name, one)).join(', ');
    if (typeof given === 'boolean') return t(given ? 'value.yes' : 'value.no');
    const text = typeof given === 'string' ? given : JSON.stringify(given);
    return name === 'schema_id' ? (schemas.name(text) ?? text) : text;
  };

  const condition = (node: ApiNode): string => {
    const operator = node.operator ?? 'equals';
    const words = [attribute(node.attribute ?? ''), t(`operator.${operator}`)];
    if (!takesNoValue(operator)) words.push(`“${value(node.attribute ?? '', node.value)}”`);
    return words.join(' ');
  };

  const conditions = (node: ApiNode): string => {
    const items = node.all ?? node.any;
    if (!items) return node.attribute ? condition(node) : t('every_document');
    const word = node.all ? t('and') : t('or');
    return items
      .map((one) => (one.attribute ? conditions(one) : `(${conditions(one)})`))
      .join(` ${word} `);
  };

  const action = (target: Target): string[] => {
    const who = people.name(target.user_id ?? target.team_id) ?? t('someone');
    const parts: string[] = [];
    if (target.user_id) parts.push(t('action.user', { name: who }));
    else if (target.team_id && target.strategy && target.strategy !== 'everyone')
      parts.push(t(`action.${target.strategy}`, { name: who }));
    else if (target.team_id) parts.push(t('action.everyone', { name: who }));
    if (target.priority !== null && target.priority !== undefined)
      parts.push(t('action.priority', { priority: target.priority }));
    if (target.due_in_hours !== null && target.due_in_hours !== undefined)
      parts.push(t('action.due', { count: target.due_in_hours }));
    if (target.schema_id)
      parts.push(t('action.schema', { name: schemas.name(target.schema_id) ?? '…' }));
    return parts;
  };

  return { attribute, value, condition, conditions, action };
}
