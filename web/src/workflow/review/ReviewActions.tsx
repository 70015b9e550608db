import { Button, Group } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import {
  BookOpen,
  Combine,
  CornerUpLeft,
  MessageSquare,
  Redo2,
  ShieldAlert,
  Undo2,
} from 'lucide-react';
import { useState, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { useKeys } from '@/kit/keys/keys';
import { type Editor, IconAction } from '@/workflow/labeling';
import { EscalateDialog } from './EscalateDialog';
import type { Keeper } from './keeper';
import { RejectDialog } from './RejectDialog';
import type { useDecisions } from './useDecisions';

interface Props {
  item: Schemas['ReviewItemDetail'];
  editor: Editor;
  keeper: Keeper;
  decisions: ReturnType<typeof useDecisions>;
  canMerge: boolean;
  comment: () => void;
  showGuidelines: () => void;
}

type Dialog = 'reject' | 'escalate' | undefined;

function useReviewKeys(
  { editor, decisions, canMerge, comment, showGuidelines }: Props,
  open: (dialog: Dialog) => void,
  merge: () => void,
) {
  const { t } = useTranslation('workflow/review');
  useKeys(t('keys'), [
    { keys: ['a', 'mod+Enter'], text: t('accept'), run: decisions.accept, inInputs: false },
    { keys: 'j', text: t('reject.title'), run: () => open('reject') },
    { keys: 'e', text: t('escalate.title'), run: () => open('escalate') },
    { keys: 'l', text: t('release'), run: decisions.release },
    { keys: 'm', text: t('merge.title'), run: merge, disabled: !canMerge },
    { keys: 'c', text: t('comment'), run: comment },
    { keys: 'g', text: t('guidelines'), run: showGuidelines },
    { keys: 'mod+z', text: t('undo'), run: () => editor.undo(), inInputs: true, repeats: true },
    {
      keys: 'mod+shift+z',
      text: t('redo'),
      run: () => editor.redo(),
      inInputs: true,
      repeats: true,
    },
  ]);
  // Also while a correction is typed.
  useKeys(t('keys'), [
    { keys: 'mod+Enter', text: t('accept_typing'), run: decisions.accept, inInputs: true },
  ]);
}

function Dialogs({
  item,
  decisions,
  dialog,
  close,
}: Pick<Props, 'item' | 'decisions'> & { dialog: Dialog; close: () => void }) {
  if (dialog === 'reject')
    return (
      <RejectDialog
        tagSet={item.tag_set}
        close={close}
        isPending={decisions.rejecting.isPending}
        error={decisions.rejecting.error}
        reject={(reason, sendTo) => void decisions.reject(reason, sendTo).catch(() => undefined)}
      />
    );
  if (dialog === 'escalate')
    return (
      <EscalateDialog
        close={close}
        isPending={decisions.escalating.isPending}
        error={decisions.escalating.error}
        escalate={(reason, to) => void decisions.escalate(reason, to).catch(() => undefined)}
      />
    );
  return null;
}

/** What a reviewer can do with the item. */
export function ReviewActions(props: Props) {
  const { t } = useTranslation('workflow/review');
  const { item, editor, keeper, decisions, canMerge, comment, showGuidelines } = props;
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<Dialog>();
  const tags = useSyncExternalStore(editor.subscribe, () => editor.state.tags);
  const isCorrected = tags !== keeper.base && keeper.corrections() !== undefined;
  const merge = () =>
    void navigate({
      to: '/review/merge/$artifactId',
      params: { artifactId: item.artifact.id },
    });
  useReviewKeys(props, setDialog, merge);
  return (
    <>
      <Group gap={2}>
        <IconAction icon={Undo2} label={t('undo')} run={() => editor.undo()} />
        <IconAction icon={Redo2} label={t('redo')} run={() => editor.redo()} />
        <IconAction icon={MessageSquare} label={t('comment')} run={comment} />
        <IconAction icon={BookOpen} label={t('guidelines')} run={showGuidelines} />
        <IconAction
          icon={ShieldAlert}
          label={t('escalate.title')}
          run={() => setDialog('escalate')}
        />
        <IconAction icon={CornerUpLeft} label={t('release')} run={decisions.release} />
        {canMerge && <IconAction icon={Combine} label={t('merge.title')} run={merge} />}
      </Group>
      <Group gap="xs">
        <Button variant="default" size="xs" onClick={() => setDialog('reject')}>
          {t('reject.button')}
        </Button>
        <Button size="xs" onClick={decisions.accept} loading={decisions.isPending}>
          {isCorrected ? t('accept_corrected') : t('accept')}
        </Button>
      </Group>
      <Dialogs
        item={item}
        decisions={decisions}
        dialog={dialog}
        close={() => setDialog(undefined)}
      />
    </>
  );
}
