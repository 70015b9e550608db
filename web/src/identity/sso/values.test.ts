import { expect, test } from 'vitest';
import { toBody, toInput, toValues } from './values';

test('a new configuration keeps no secret and sends one provider', () => {
  const values = { ...toValues(undefined), issuer: ' https://idp.example ', client_id: 'a' };
  const body = toBody(values, undefined);
  expect(body.oidc).toEqual({
    issuer: 'https://idp.example',
    client_id: 'a',
    scopes: ['openid', 'email', 'profile'],
    groups_claim: 'groups',
  });
  expect(body).not.toHaveProperty('saml');
  expect(body).not.toHaveProperty('revision');
  expect(toBody({ ...values, client_secret: 's' }, 2)).toMatchObject({
    oidc: { client_secret: 's' },
    revision: 2,
  });
});

test('metadata comes from the address or from the text', () => {
  const values = { ...toValues(undefined), kind: 'saml', metadata_xml: '<a/>' } as const;
  expect(toBody(values, 1).saml).toEqual({
    metadata_url: null,
    metadata_xml: '<a/>',
    name_id_format: null,
  });
  expect(toBody({ ...values, metadata_url: 'https://a.example' }, 1).saml).toMatchObject({
    metadata_url: 'https://a.example',
    metadata_xml: null,
  });
});

test('groups without a name are left out', () => {
  const groups = [
    { key: 1, group: ' reviewers ', role: 'reviewer' as const, team_id: undefined },
    { key: 2, group: '', role: undefined, team_id: undefined },
  ];
  expect(toBody({ ...toValues(undefined), groups }, 1).group_mapping).toEqual([
    { group: 'reviewers', role: 'reviewer', team_id: null },
  ]);
});

test.each([
  ['oidc.issuer', 'issuer'],
  ['saml.metadata_url', 'metadata_url'],
  ['group_mapping.0.group', 'groups'],
  ['email_domains[1]', 'email_domains'],
  ['enforced', 'enforced'],
])('the field %s is the input %s', (field, input) => {
  expect(toInput(field)).toBe(input);
});
