import { Button, Group, Paper, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Archive, ArchiveRestore, Gauge, RefreshCw, Trash2, UserPlus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import type { Selected } from '@/kit/lists/selection';
import { useMay } from '@/kit/session/may';
import type { toFilters } from '../search';
import { refreshDocuments } from '../useDocuments';
import { archiveMany, type BulkResult, reprocessMany, type Target } from './bulk';
import { BulkAssignDialog } from './BulkAssignDialog';
import { BulkDeleteDialog } from './BulkDeleteDialog';
import { BulkResultDialog } from './BulkResultDialog';
import { PriorityDialog } from './PriorityDialog';

interface Props {
  selection: Selected;
  total: number;
  filters: ReturnType<typeof toFilters>;
}

type Dialog = 'assign' | 'priority' | 'delete';

/** Runs an action, keeps what came of it, and reads the list again. */
function useBulk() {
  const [result, setResult] = useState<BulkResult>();
  const { mutate, error, isPending } = useMutation({
    mutationFn: (run: () => Promise<BulkResult>) => run(),
    onSuccess: (outcome) => setResult(outcome),
    onSettled: () => refreshDocuments(),
  });
  return { run: mutate, error, isPending, result, close: () => setResult(undefined) };
}

export function BulkBar({ selection, total, filters }: Props) {
  const { t } = useTranslation('documents/artifacts');
  const bulk = useBulk();
  const [dialog, setDialog] = useState<Dialog>();
  const { everything, ids } = selection;
  const target: Target = everything ? { filter: filters, count: total } : { ids };
  const count = everything ? total : ids.length;
  const close = () => setDialog(undefined);
  const run = (action: () => Promise<BulkResult>) => {
    close();
    bulk.run(action);
  };
  const finish = () => {
    bulk.close();
    selection.clear();
  };
  return (
    <Paper withBorder p="xs" role="group" aria-label={t('bulk.title')}>
      <Group gap="xs">
        <Text size="sm" fw={600} role="status">
          {t('bulk.selected', { count })}
        </Text>
        {!everything && selection.all && total > ids.length && (
          <Button size="compact-sm" variant="subtle" onClick={selection.selectEverything}>
            {t('bulk.select_everything', { count: total })}
          </Button>
        )}
        <Actions {...{ target, run, setDialog, isPending: bulk.isPending }} />
        <Button size="compact-sm" variant="subtle" onClick={selection.clear}>
          {t('bulk.clear')}
        </Button>
      </Group>
      <ErrorAlert error={bulk.error} />
      <BulkAssignDialog {...{ count, close, opened: dialog === 'assign', target, run }} />
      <BulkDeleteDialog {...{ count, close, opened: dialog === 'delete', target, run }} />
      <PriorityDialog {...{ count, close, opened: dialog === 'priority', ids, run }} />
      {bulk.result && <BulkResultDialog result={bulk.result} close={finish} />}
    </Paper>
  );
}

interface ActionsProps {
  target: Target;
  run: (action: () => Promise<BulkResult>) => void;
  setDialog: (dialog: Dialog) => void;
  isPending: boolean;
}

function Actions({ target, run, setDialog, isPending }: ActionsProps) {
  const { t } = useTranslation('documents/artifacts');
  const may = useMay();
  const isFilter = 'filter' in target;
  const isArchive = isFilter && target.filter.archived === 'true';
  const button = { size: 'compact-sm', variant: 'default', loading: isPending } as const;
  const icon = { size: 14, 'aria-hidden': true } as const;
  return (
    <>
      <Button {...button} leftSection={<UserPlus {...icon} />} onClick={() => setDialog('assign')}>
        {t('action.assign')}
      </Button>
      {may('artifacts:update') && (
        <>
          {!isArchive && (
            <Button
              {...button}
              leftSection={<Archive {...icon} />}
              onClick={() => run(() => archiveMany(target, true))}
            >
              {t('action.archive')}
            </Button>
          )}
          <Button
            {...button}
            leftSection={<ArchiveRestore {...icon} />}
            onClick={() => run(() => archiveMany(target, false))}
          >
            {t('action.unarchive')}
          </Button>
          {!isFilter && <SingleActions {...{ ids: target.ids, run, setDialog, button }} />}
        </>
      )}
      {may('artifacts:delete') && (
        <Button
          {...button}
          c="var(--mantine-color-error)"
          leftSection={<Trash2 {...icon} />}
          onClick={() => setDialog('delete')}
        >
          {t('action.delete')}
        </Button>
      )}
    </>
  );
}

type SingleProps = Pick<ActionsProps, 'run' | 'setDialog'> & {
  ids: readonly string[];
  button: { size: 'compact-sm'; variant: 'default'; loading: boolean };
};

/** Actions that the API has for single documents only. */
function SingleActions({ ids, run, setDialog, button }: SingleProps) {
  const { t } = useTranslation('documents/artifacts');
  return (
    <>
      <Button
        {...button}
        leftSection={<Gauge size={14} aria-hidden />}
        onClick={() => setDialog('priority')}
      >
        {t('action.priority')}
      </Button>
      <Button
        {...button}
        leftSection={<RefreshCw size={14} aria-hidden />}
        onClick={() => run(() => reprocessMany(ids))}
      >
        {t('action.reprocess')}
      </Button>
    </>
  );
}
