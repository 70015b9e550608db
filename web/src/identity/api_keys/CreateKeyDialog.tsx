import { Button, Checkbox, Group, Select, Stack, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { useIdempotency } from '@/kit/api/idempotency';
import type { Schemas } from '@/kit/api/types';
import { CodeBlock } from '@/kit/components/CodeBlock';
import { Dialog } from '@/kit/components/Dialog';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { SecretOnce } from '@/kit/components/SecretOnce';
import { basePath } from '@/kit/environment';
import { fieldError, otherError } from '@/kit/forms/fieldErrors';
import { currentRole } from '@/kit/session/may';
import { currentOrganization } from '@/kit/session/organization';
import { EXPIRY_DAYS, expiryDate, grantableRoles, type ExpiryDays } from './scopes';

type Created = Schemas['ApiKeyWithSecret'];

export function CreateKeyDialog({ close }: { close: () => void }) {
  const { t } = useTranslation('identity/api_keys');
  const [created, setCreated] = useState<Created>();
  const create = useCreate(setCreated);
  return (
    <Dialog
      // The key that is on its way is shown once.
      onClose={() => !create.isPending && close()}
      size="lg"
      title={created ? t('created', { name: created.name }) : t('create')}
      firm={created !== undefined}
    >
      {created ? <Result created={created} close={close} /> : <KeyForm create={create} />}
    </Dialog>
  );
}

function useCreate(onCreated: (key: Created) => void) {
  const client = useQueryClient();
  const idempotency = useIdempotency();
  const create = $api.useMutation('post', '/api/v1/organizations/{org_slug}/api-keys');
  const submit = (body: Schemas['CreateApiKey']) =>
    create.mutate(
      {
        params: {
          path: { org_slug: currentOrganization() ?? '' },
          header: idempotency.headers(body),
        },
        body,
      },
      {
        onSuccess: ({ data }) => {
          idempotency.done();
          void client.invalidateQueries({
            queryKey: ['get', '/api/v1/organizations/{org_slug}/api-keys'],
          });
          onCreated(data);
        },
      },
    );
  return { submit, error: create.error, isPending: create.isPending };
}

function KeyForm({ create }: { create: ReturnType<typeof useCreate> }) {
  const { t } = useTranslation('identity/api_keys');
  const { submit, error, isPending } = create;
  // A request that is sent again has to be the same.
  const [now] = useState(() => new Date());
  const [name, setName] = useState('');
  const [role, setRole] = useState<Created['role']>('viewer');
  const [readOnly, setReadOnly] = useState(false);
  const [days, setDays] = useState<ExpiryDays>('90');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit({
          name,
          role,
          read_only: readOnly,
          expires_at: expiryDate(days, now),
        });
      }}
    >
      <Stack>
        <TextInput
          label={t('name')}
          description={t('name_hint')}
          required
          data-autofocus
          maxLength={255}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldError(error, 'name')}
        />
        <RoleSelect value={role} onChange={setRole} error={fieldError(error, 'role')} />
        <Checkbox
          label={t('read_only')}
          description={t('read_only_hint')}
          checked={readOnly}
          onChange={(event) => setReadOnly(event.currentTarget.checked)}
        />
        <Select
          label={t('expires')}
          allowDeselect={false}
          data={EXPIRY_DAYS.map((one) => ({
            value: one,
            label: one === 'never' ? t('never') : t('days', { count: Number(one) }),
          }))}
          value={days}
          onChange={(value) => value && setDays(value)}
          error={fieldError(error, 'expires_at')}
        />
        <ErrorAlert error={otherError(error, ['name', 'role', 'expires_at'])} />
        <Group justify="flex-end">
          <Button type="submit" loading={isPending}>
            {t('create')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Result({ created, close }: { created: Created; close: () => void }) {
  const { t } = useTranslation('identity/api_keys');
  const address = `${window.location.origin}${basePath}/api/v1/artifacts`;
  return (
    <Stack>
      <SecretOnce secret={created.key} label={t('key')} />
      <CodeBlock label={t('example')} code={`curl -H "X-API-Key: $KEY" ${address}`} />
      <Group justify="flex-end">
        <Button onClick={close}>{t('done')}</Button>
      </Group>
    </Stack>
  );
}

interface RoleProps {
  value: Created['role'];
  onChange: (role: Created['role']) => void;
  error: string | undefined;
}

function RoleSelect({ value, onChange, error }: RoleProps) {
  const { t } = useTranslation('identity/api_keys');
  const { t: tKit } = useTranslation();
  return (
    <Select
      label={t('role')}
      description={t('role_hint')}
      allowDeselect={false}
      data={grantableRoles(currentRole()).map((one) => ({
        value: one,
        label: tKit(`roles.${one}`),
      }))}
      value={value}
      onChange={(next) => next && onChange(next)}
      error={error}
    />
  );
}
