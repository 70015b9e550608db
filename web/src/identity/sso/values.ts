import type { Schemas } from '@/kit/api/types';

type Sso = Schemas['Sso'];
export type SsoRole = Sso['default_role'];

export interface GroupRow {
  key: number;
  group: string;
  role: SsoRole | undefined;
  team_id: string | undefined;
}

export interface Values {
  kind: Sso['kind'];
  enabled: boolean;
  enforced: boolean;
  default_role: SsoRole;
  require_group: boolean;
  email_domains: string[];
  groups: GroupRow[];
  issuer: string;
  client_id: string;
  client_secret: string;
  scopes: string[];
  groups_claim: string;
  metadata_url: string;
  metadata_xml: string;
  name_id_format: string;
}

export function toValues(sso: Sso | undefined): Values {
  return {
    kind: sso?.kind ?? 'oidc',
    enabled: sso?.enabled ?? true,
    enforced: sso?.enforced ?? false,
    default_role: sso?.default_role ?? 'viewer',
    require_group: sso?.require_group ?? false,
    email_domains: sso?.email_domains ?? [],
    groups: (sso?.group_mapping ?? []).map(({ group, role, team_id }, key) => ({
      key,
      group,
      role: role ?? undefined,
      team_id: team_id ?? undefined,
    })),
    issuer: sso?.oidc?.issuer ?? '',
    client_id: sso?.oidc?.client_id ?? '',
    client_secret: '',
    scopes: sso?.oidc?.scopes ?? ['openid', 'email', 'profile'],
    groups_claim: sso?.oidc?.groups_claim ?? 'groups',
    metadata_url: sso?.saml?.metadata_url ?? '',
    metadata_xml: sso?.saml?.metadata_xml ?? '',
    name_id_format: sso?.saml?.name_id_format ?? '',
  };
}

const orNull = (text: string) => (text.trim() === '' ? null : text.trim());

/** Returns the whole configuration: the API replaces it. A secret that is left empty is kept. */
export function toBody(values: Values, revision: number | undefined): Schemas['ConfigureSso'] {
  const { kind } = values;
  return {
    kind,
    enabled: values.enabled,
    enforced: values.enforced,
    default_role: values.default_role,
    require_group: values.require_group,
    email_domains: values.email_domains,
    group_mapping: values.groups
      .filter(({ group }) => group.trim() !== '')
      .map(({ group, role, team_id }) => ({
        group: group.trim(),
        role: role ?? null,
        team_id: team_id ?? null,
      })),
    ...(kind === 'oidc' && {
      oidc: {
        issuer: values.issuer.trim(),
        client_id: values.client_id.trim(),
        scopes: values.scopes,
        groups_claim: values.groups_claim.trim(),
        ...(values.client_secret !== '' && { client_secret: values.client_secret }),
      },
    }),
    ...(kind === 'saml' && {
      saml: {
        metadata_url: orNull(values.metadata_url),
        metadata_xml: orNull(values.metadata_url) ? null : orNull(values.metadata_xml),
        name_id_format: orNull(values.name_id_format),
      },
    }),
    ...(revision !== undefined && { revision }),
  };
}

/** Returns the input for a field of the API: `oidc.issuer` is `issuer`. */
export function toInput(field: string): string {
  const parts = field.split(/[.[]/);
  const first = parts[0] ?? field;
  if (first === 'group_mapping') return 'groups';
  return first === 'oidc' || first === 'saml' ? (parts[1] ?? first) : first;
}
