import { Button, Menu, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Copy, Download, Sparkles, Trash2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { api, unwrap } from '@/kit/api/client';
import { saveBlob } from '@/kit/api/download';
import { MoreMenu } from '@/kit/components/MoreMenu';
import { notifyError } from '@/kit/components/notify';
import { useMay } from '@/kit/session/may';
import { PublishDialog } from '../publish/PublishDialog';
import { refreshSchemas, type SchemaDetail } from '../useDraft';
import { DeleteDialog } from './DeleteDialog';

interface Props {
  schema: SchemaDetail;
  isDirty: boolean;
}

function useAction() {
  return useMutation({
    mutationFn: (run: () => Promise<unknown>) => run(),
    onError: notifyError,
    onSettled: () => refreshSchemas(),
  });
}

export function SchemaActions({ schema, isDirty }: Props) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const mayManage = useMay()('schemas:manage');
  const [publishing, publish] = useDisclosure(false);
  const [deleting, remove] = useDisclosure(false);
  const { mutate, isPending } = useAction();
  if (!mayManage) return null;
  const init = { params: { path: { schema_id: schema.id } }, body: {} };
  const toggle = () =>
    mutate(() =>
      schema.status === 'active'
        ? api.POST('/api/v1/schemas/{schema_id}/deactivate', init)
        : api.POST('/api/v1/schemas/{schema_id}/activate', init),
    );
  return (
    <>
      {schema.current_version && (
        <Button variant="default" loading={isPending} onClick={toggle}>
          {t(schema.status === 'active' ? 'action.deactivate' : 'action.activate')}
        </Button>
      )}
      <Tooltip label={t('publish.unsaved')} disabled={!isDirty}>
        <Button onClick={publish.open} disabled={isDirty}>
          {t('action.publish')}
        </Button>
      </Tooltip>
      <More schema={schema} run={mutate} remove={remove.open} />
      <PublishDialog schema={schema} opened={publishing} close={publish.close} />
      <DeleteDialog schema={schema} opened={deleting} close={remove.close} />
    </>
  );
}

function saveAsFile(schema: SchemaDetail): void {
  const { name, document_type, description, guidelines, review_policy, required_skills } = schema;
  const content = {
    name,
    document_type,
    description,
    guidelines,
    review_policy,
    required_skills,
  };
  const file = { format: 'labeling-schema', version: 1, ...content, fields: schema.fields };
  const blob = new Blob([JSON.stringify(file, null, 2)], { type: 'application/json' });
  saveBlob(blob, `${name}.json`);
}

interface MoreProps {
  schema: SchemaDetail;
  run: (action: () => Promise<unknown>) => void;
  remove: () => void;
}

function More({ schema, run, remove }: MoreProps) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const navigate = useNavigate();
  const icon = { size: 16, 'aria-hidden': true } as const;
  const init = { params: { path: { schema_id: schema.id } }, body: {} };
  const duplicate = async () => {
    const call = api.POST('/api/v1/schemas/{schema_id}/duplicate', init);
    const { data } = await unwrap(call);
    await navigate({ to: '/schemas/$schemaId', params: { schemaId: data.id } });
  };
  const assist = () =>
    schema.ai_assist_enabled
      ? api.POST('/api/v1/schemas/{schema_id}/ai-assist/disable', init)
      : api.POST('/api/v1/schemas/{schema_id}/ai-assist/enable', init);
  return (
    <MoreMenu>
      <Menu.Item leftSection={<Sparkles {...icon} />} onClick={() => run(assist)}>
        {t(schema.ai_assist_enabled ? 'action.assist_off' : 'action.assist_on')}
      </Menu.Item>
      <Menu.Item leftSection={<Copy {...icon} />} onClick={() => run(duplicate)}>
        {t('action.duplicate')}
      </Menu.Item>
      <Menu.Item leftSection={<Download {...icon} />} onClick={() => saveAsFile(schema)}>
        {t('action.download')}
      </Menu.Item>
      <Menu.Divider />
      <Menu.Item c="var(--mantine-color-error)" leftSection={<Trash2 {...icon} />} onClick={remove}>
        {t('action.delete')}
      </Menu.Item>
    </MoreMenu>
  );
}
