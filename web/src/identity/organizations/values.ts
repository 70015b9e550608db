import type { Schemas } from '@/kit/api/types';

type Organization = Schemas['Organization'];
type Settings = Schemas['SettingsInput'];

export interface Values {
  name: string;
  locale: string;
  time_zone: string;
  /** Empty: documents are kept forever. */
  retention_days: number | '';
  keep: boolean;
  claim_minutes: number | '';
  draft_hours: number | '';
  allow_self_review: boolean;
  kind: 'builtin' | 'openai_compatible';
  base_url: string;
  model: string;
  /** Empty: the stored key stays. */
  api_key: string;
  remove_key: boolean;
}

export function toValues({ name, settings }: Organization): Values {
  const { ai_provider: provider } = settings;
  return {
    name,
    locale: settings.locale,
    time_zone: settings.time_zone,
    retention_days: settings.retention_days ?? '',
    keep: settings.retention_days === null,
    claim_minutes: settings.claim_minutes,
    draft_hours: settings.draft_hours,
    allow_self_review: settings.allow_self_review,
    kind: provider.kind,
    base_url: provider.base_url ?? '',
    model: provider.model ?? '',
    api_key: '',
    remove_key: false,
  };
}

function toProvider(values: Values): Settings['ai_provider'] {
  if (values.kind === 'builtin') return { kind: 'builtin' };
  return {
    kind: values.kind,
    base_url: values.base_url.trim(),
    model: values.model.trim(),
    ...(values.remove_key && { api_key: null }),
    ...(values.api_key !== '' && { api_key: values.api_key }),
  };
}

/** Returns the body of the change. Settings of the model are sent only if they were touched. */
export function toBody(values: Values, organization: Organization): Schemas['UpdateOrganization'] {
  const before = toValues(organization);
  const touched = (['kind', 'base_url', 'model', 'api_key', 'remove_key'] as const).some(
    (name) => values[name] !== before[name],
  );
  return {
    name: values.name,
    settings: {
      locale: values.locale,
      time_zone: values.time_zone,
      retention_days: values.keep || values.retention_days === '' ? null : values.retention_days,
      ...(values.claim_minutes !== '' && { claim_minutes: values.claim_minutes }),
      ...(values.draft_hours !== '' && { draft_hours: values.draft_hours }),
      allow_self_review: values.allow_self_review,
      ...(touched && { ai_provider: toProvider(values) }),
    },
    revision: organization.revision,
  };
}

/** Returns whether the change deletes documents that are kept now. */
export function deletesMore(values: Values, before: number | null): boolean {
  if (values.keep || values.retention_days === '') return false;
  return before === null || values.retention_days < before;
}

/** Returns the input for a field of the API: `settings.ai_provider.base_url` is `base_url`. */
export function toInput(field: string): string {
  return field.split('.').at(-1) ?? field;
}
