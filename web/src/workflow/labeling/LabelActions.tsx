import { ActionIcon, Button, Group, Menu, Tooltip } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import {
  BookOpen,
  EllipsisVertical,
  MessageSquare,
  Redo2,
  Sparkles,
  Undo2,
  type LucideIcon,
} from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { useKeys } from '@/kit/keys/keys';
import type { Session } from './model/session';
import { DiscardDialog } from './parts/DiscardDialog';
import { expectLoss } from './parts/lostAnswers';
import { SkipDialog } from './parts/SkipDialog';
import { useSubmit } from './parts/useSubmit';

interface Props {
  tagSet: Schemas['TagSet'];
  session: Session;
  /** Goes on to the next document. */
  leave: () => Promise<unknown>;
  comment: () => void;
  showGuidelines: () => void;
  /** Asks for a prediction; nothing if the caller may not. */
  predict: (() => void) | undefined;
}

export function IconAction({
  icon: Icon,
  label,
  run,
}: {
  icon: LucideIcon;
  label: string;
  run: () => void;
}) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        c="var(--mantine-color-text)"
        aria-label={label}
        onClick={run}
      >
        <Icon size={16} />
      </ActionIcon>
    </Tooltip>
  );
}

function useAdvances({ editor }: Session) {
  const [advances, setAdvances] = useLocalStorage({ key: 'label-advances', defaultValue: true });
  useEffect(() => {
    editor.setAdvances(advances);
  }, [editor, advances]);
  return [advances, setAdvances] as const;
}

function MoreMenu({ session, discard }: { session: Session; discard: () => void }) {
  const { t } = useTranslation('workflow/labeling');
  const [advances, setAdvances] = useAdvances(session);
  return (
    <Menu position="top-start">
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          c="var(--mantine-color-text)"
          aria-label={t('actions.more')}
        >
          <EllipsisVertical size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          role="menuitemcheckbox"
          aria-checked={advances}
          onClick={() => setAdvances(!advances)}
        >
          {advances ? t('actions.stop_advancing') : t('actions.advance')}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item color="red" onClick={discard}>
          {t('discard.title')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function useLeaving({ tagSet, session, leave }: Props) {
  const release = $api.useMutation('post', '/api/v1/artifacts/{artifact_id}/release');
  const remove = $api.useMutation('delete', '/api/v1/tag-sets/{tag_set_id}');
  const path = { artifact_id: tagSet.artifact_id };
  const [once] = useState(() => ({
    release: expectLoss(({ code }) => code === 'conflict'),
    remove: expectLoss(({ status }) => status === 404),
  }));
  const skip = async (reason: string) => {
    await session.saver.flush();
    await once.release(() => release.mutateAsync({ params: { path }, body: { reason } }));
    await leave();
  };
  const discard = async () => {
    const params = { path: { tag_set_id: tagSet.id } };
    await once.remove(() => remove.mutateAsync({ params }));
    session.saver.stop();
    await session.pending.removeAll().catch(() => undefined);
    await leave();
  };
  return { skip, discard, release, remove };
}

function useLabelKeys(
  { session, comment, showGuidelines, predict }: Props,
  submit: () => void,
  skip: () => void,
  discard: () => void,
) {
  const { t } = useTranslation('workflow/labeling');
  const { editor, saver } = session;
  useKeys(t('keys.label'), [
    { keys: 'mod+Enter', text: t('actions.submit'), run: submit, inInputs: true },
    {
      keys: 'alt+Enter',
      text: t('actions.confirm_all'),
      run: () => editor.confirmAll(),
      inInputs: true,
    },
    {
      keys: 'mod+z',
      text: t('actions.undo'),
      run: () => editor.undo(),
      inInputs: true,
      repeats: true,
    },
    {
      keys: 'mod+shift+z',
      text: t('actions.redo'),
      run: () => editor.redo(),
      inInputs: true,
      repeats: true,
    },
    { keys: 'mod+s', text: t('actions.save'), run: () => void saver.flush(), inInputs: true },
    { keys: 'F4', text: t('actions.comment'), run: comment, inInputs: true },
    { keys: 'g', text: t('guidelines.title'), run: showGuidelines },
    {
      keys: 'p',
      text: t('prediction.ask'),
      run: () => predict?.(),
      disabled: predict === undefined,
    },
    { keys: 's', text: t('skip.title'), run: skip },
    { keys: 'shift+d', text: t('discard.title'), run: discard },
  ]);
}

/** What a labeler can do with the draft as a whole. */
export function LabelActions(props: Props) {
  const { t } = useTranslation('workflow/labeling');
  const { tagSet, session, leave, comment, showGuidelines, predict } = props;
  const { editor } = session;
  const [dialog, setDialog] = useState<'skip' | 'discard'>();
  const submit = useSubmit(tagSet.id, session, leave);
  const leaving = useLeaving(props);
  const close = () => setDialog(undefined);
  useLabelKeys(
    props,
    submit.submit,
    () => setDialog('skip'),
    () => setDialog('discard'),
  );
  return (
    <>
      <ErrorAlert error={submit.error} />
      <Group gap={2}>
        <IconAction icon={Undo2} label={t('actions.undo')} run={() => editor.undo()} />
        <IconAction icon={Redo2} label={t('actions.redo')} run={() => editor.redo()} />
        <IconAction icon={MessageSquare} label={t('comments.title')} run={comment} />
        <IconAction icon={BookOpen} label={t('guidelines.title')} run={showGuidelines} />
        {predict && <IconAction icon={Sparkles} label={t('prediction.ask')} run={predict} />}
        <MoreMenu session={session} discard={() => setDialog('discard')} />
      </Group>
      <Group gap="xs">
        <Button variant="default" size="xs" onClick={() => setDialog('skip')}>
          {t('actions.skip')}
        </Button>
        <Button size="xs" onClick={submit.submit} loading={submit.isPending}>
          {t('actions.submit')}
        </Button>
      </Group>
      <SkipDialog
        opened={dialog === 'skip'}
        close={close}
        isPending={leaving.release.isPending}
        error={leaving.release.error}
        skip={(reason) => void leaving.skip(reason).catch(() => undefined)}
      />
      <DiscardDialog
        opened={dialog === 'discard'}
        close={close}
        isPending={leaving.remove.isPending}
        error={leaving.remove.error}
        discard={() => void leaving.discard().catch(() => undefined)}
      />
    </>
  );
}
