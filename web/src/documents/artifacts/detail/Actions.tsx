import { Button, Menu } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, useNavigate } from '@tanstack/react-router';
import { useMutation } from '@tanstack/react-query';
import {
  Archive,
  ArchiveRestore,
  Download,
  Pencil,
  RefreshCw,
  Trash2,
  Undo2,
  UserPlus,
} from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { api } from '@/kit/api/client';
import { downloadFile } from '@/kit/api/download';
import { MoreMenu } from '@/kit/components/MoreMenu';
import { notifyError } from '@/kit/components/notify';
import { useKeys } from '@/kit/keys/keys';
import { useMay } from '@/kit/session/may';
import { type Artifact, refreshDocuments } from '../useDocuments';
import { AssignDialog } from './AssignDialog';
import { DeleteDialog } from './DeleteDialog';
import { EditDialog } from './EditDialog';

/** Runs an action of one click; an error is shown in a corner, where the success is, too. */
function useAction() {
  return useMutation({
    mutationFn: (run: () => Promise<unknown>) => run(),
    onError: notifyError,
    onSettled: () => refreshDocuments(),
  });
}

const icon = { size: 16, 'aria-hidden': true } as const;

export function Actions({ row }: { row: Artifact }) {
  const { t } = useTranslation('documents/artifacts');
  const may = useMay();
  const navigate = useNavigate();
  const [assigning, assign] = useDisclosure(false);
  const [editing, edit] = useDisclosure(false);
  const [deleting, remove] = useDisclosure(false);
  const label = `/label/${row.id}`;
  const isOpen = row.status === 'ready' || row.status === 'in_progress';
  const mayLabel = may('tag_sets:write') && isOpen && row.schema_id !== null && !row.archived;
  const mayUpdate = may('artifacts:update');
  useKeys(t('document'), [
    ...(mayLabel
      ? [{ keys: 'l', text: t('action.label'), run: () => void navigate({ to: label }) }]
      : []),
    ...(may('artifacts:assign') ? [{ keys: 'a', text: t('action.assign'), run: assign.open }] : []),
    ...(mayUpdate ? [{ keys: 'e', text: t('action.edit'), run: edit.open }] : []),
  ]);
  return (
    <>
      {mayLabel && (
        <Button component={Link} to={label}>
          {t('action.label')}
        </Button>
      )}
      {may('artifacts:assign') && (
        <Button variant="default" leftSection={<UserPlus {...icon} />} onClick={assign.open}>
          {t('action.assign')}
        </Button>
      )}
      {mayUpdate && (
        <Button variant="default" leftSection={<Pencil {...icon} />} onClick={edit.open}>
          {t('action.edit')}
        </Button>
      )}
      <More row={row} remove={remove.open} />
      <AssignDialog row={row} opened={assigning} close={assign.close} />
      <EditDialog row={row} opened={editing} close={edit.close} />
      <DeleteDialog row={row} opened={deleting} close={remove.close} />
    </>
  );
}

function More({ row, remove }: { row: Artifact; remove: () => void }) {
  const { t } = useTranslation('documents/artifacts');
  const may = useMay();
  const { mutate } = useAction();
  const download = () => downloadFile(`/api/v1/artifacts/${row.id}/content`, row.name);
  return (
    <MoreMenu>
      <Menu.Item leftSection={<Download {...icon} />} onClick={() => mutate(download)}>
        {t('action.download')}
      </Menu.Item>
      {row.claim && may('artifacts:claim') && <ReleaseItem row={row} run={mutate} />}
      {may('artifacts:update') && <UpdateItems row={row} run={mutate} />}
      {may('artifacts:delete') && (
        <>
          <Menu.Divider />
          <Menu.Item
            c="var(--mantine-color-error)"
            leftSection={<Trash2 {...icon} />}
            onClick={remove}
          >
            {t('action.delete')}
          </Menu.Item>
        </>
      )}
    </MoreMenu>
  );
}

interface ItemProps {
  row: Artifact;
  run: (action: () => Promise<unknown>) => void;
}

function ReleaseItem({ row, run }: ItemProps) {
  const { t } = useTranslation('documents/artifacts');
  const params = { path: { artifact_id: row.id } };
  return (
    <Menu.Item
      leftSection={<Undo2 {...icon} />}
      onClick={() =>
        run(() => api.POST('/api/v1/artifacts/{artifact_id}/release', { params, body: {} }))
      }
    >
      {t('action.release')}
    </Menu.Item>
  );
}

function UpdateItems({ row, run }: ItemProps) {
  const { t } = useTranslation('documents/artifacts');
  const params = { path: { artifact_id: row.id } };
  const archive = (archived: boolean) => () =>
    run(() => api.PATCH('/api/v1/artifacts/{artifact_id}', { params, body: { archived } }));
  const reprocess = () =>
    run(() => api.POST('/api/v1/artifacts/{artifact_id}/reprocess', { params }));
  return (
    <>
      {row.archived ? (
        <Menu.Item leftSection={<ArchiveRestore {...icon} />} onClick={archive(false)}>
          {t('action.unarchive')}
        </Menu.Item>
      ) : (
        <Menu.Item leftSection={<Archive {...icon} />} onClick={archive(true)}>
          {t('action.archive')}
        </Menu.Item>
      )}
      {!row.archived && row.status !== 'processing' && (
        <Menu.Item leftSection={<RefreshCw {...icon} />} onClick={reprocess}>
          {t('action.reprocess')}
        </Menu.Item>
      )}
    </>
  );
}
