import { Alert, Badge, Button, Group, Tabs, Text } from '@mantine/core';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { isApiError } from '@/kit/api/errors';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { NotFound } from '@/kit/components/NotFound';
import { Page } from '@/kit/components/Page';
import { StaleNotice } from '@/kit/forms/StaleNotice';
import { Unsaved } from '@/kit/forms/unsaved';
import { useKeys } from '@/kit/keys/keys';
import { useMay } from '@/kit/session/may';
import { STATUS_COLORS } from '../list/SchemasPage';
import type { SchemaTab } from '../search';
import { type DraftState, type SchemaDetail, useDraft } from '../useDraft';
import { Versions } from '../versions/Versions';
import { FieldsEditor } from './FieldsEditor';
import { SchemaActions } from './SchemaActions';
import { Settings } from './Settings';

export function SchemaPage() {
  const { t } = useTranslation('schemas/artifact_schemas');
  const { schemaId } = useParams({ from: '/work/schemas/$schemaId' });
  const { data, error, refetch } = $api.useQuery('get', '/api/v1/schemas/{schema_id}', {
    params: { path: { schema_id: schemaId } },
  });
  if (isApiError(error) && error.status === 404) return <NotFound />;
  if (data) return <Loaded key={schemaId} schema={data.data} />;
  return (
    <Page title={t('schema')}>
      {error ? <ErrorAlert error={error} retry={() => void refetch()} /> : <Loading />}
    </Page>
  );
}

function Loaded({ schema }: { schema: SchemaDetail }) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const { tab = 'fields' } = useSearch({ from: '/work/schemas/$schemaId' });
  const navigate = useNavigate();
  const mayManage = useMay()('schemas:manage');
  const state = useDraft(schema);
  const change = (next: string | null) =>
    void navigate({
      to: '/schemas/$schemaId',
      params: { schemaId: schema.id },
      search: { tab: next as SchemaTab },
      replace: true,
    });
  return (
    <Page
      title={state.draft.name}
      description={<Description schema={schema} />}
      actions={<SchemaActions schema={schema} isDirty={state.isDirty} />}
    >
      <Unsaved isDirty={state.isDirty} keptInTab />
      {mayManage && <SaveBar schema={schema} state={state} />}
      <Tabs value={tab} onChange={change} keepMounted={false}>
        <Tabs.List mb="sm">
          <Tabs.Tab value="fields">{t('tab.fields')}</Tabs.Tab>
          <Tabs.Tab value="settings">{t('tab.settings')}</Tabs.Tab>
          <Tabs.Tab value="versions">{t('tab.versions')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="fields">
          <FieldsEditor state={state} readOnly={!mayManage} />
        </Tabs.Panel>
        <Tabs.Panel value="settings">
          <Settings state={state} readOnly={!mayManage} />
        </Tabs.Panel>
        <Tabs.Panel value="versions">
          <Versions schemaId={schema.id} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function Description({ schema }: { schema: SchemaDetail }) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const version = schema.current_version;
  return (
    <Group component="span" gap="xs">
      <Badge component="span" variant="dot" color={STATUS_COLORS[schema.status]} tt="none">
        {t(`status.${schema.status}`)}
      </Badge>
      {version ? t('version', { number: version.number }) : t('never_published')}
    </Group>
  );
}

/** Shown while there are changes: saves or drops them, and says when somebody else was faster. */
function SaveBar({ schema, state }: { schema: SchemaDetail; state: DraftState }) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const { error, isDirty } = state;
  useKeys(t('schema'), [
    {
      keys: 'mod+s',
      text: t('save'),
      run: () => state.submit(),
      disabled: !isDirty,
      inInputs: true,
    },
  ]);
  if (isApiError(error, 'stale_precondition')) {
    const current = Number(error.details['current_revision'] ?? schema.revision);
    return <StaleNotice keep={() => state.submit(current)} drop={state.discard} />;
  }
  if (!isDirty) return null;
  const field = isApiError(error) ? error.field : undefined;
  return (
    <Alert color={error ? 'red' : 'blue'} role={error ? 'alert' : 'status'}>
      <Group justify="space-between">
        <Text size="sm">
          {error instanceof Error
            ? `${error.message}${field === undefined ? '' : ` (${field})`}`
            : t('unsaved')}
        </Text>
        <Group gap="xs">
          <Button size="compact-sm" variant="default" onClick={state.discard}>
            {t('discard')}
          </Button>
          <Button size="compact-sm" loading={state.isSaving} onClick={() => state.submit()}>
            {t('save')}
          </Button>
        </Group>
      </Group>
    </Alert>
  );
}
