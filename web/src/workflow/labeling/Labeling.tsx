import { Alert } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { Page } from '@/kit/components/Page';
import type { Schemas } from '@/kit/api/types';
import { LabelActions } from './LabelActions';
import { type Session, useSession } from './model/session';
import { listSlots, nextOpenSlot } from './model/slots';
import { type Field, isUnconfirmed, tagAt } from './model/tags';
import { CommentBadge } from './parts/CommentBadge';
import { CommentsDrawer } from './parts/CommentsDrawer';
import { ConflictDialog } from './parts/ConflictDialog';
import { GuidelinesDrawer } from './parts/GuidelinesDrawer';
import { Progress } from './parts/Progress';
import { SaveStatus, useSaveState } from './parts/SaveStatus';
import { useClaim } from './parts/useClaim';
import { useComments } from './parts/useComments';
import { useDocument } from './parts/useDocument';
import { Note, Workspace } from './parts/Workspace';

interface LabelingProps {
  tagSet: Schemas['TagSet'];
}

/** Puts the keyboard on the first input that needs work. */
function useFirstFocus(session: Session | undefined) {
  useEffect(() => {
    if (!session) return;
    const { fields, state } = session.editor;
    const [first] = listSlots(fields, state.tags);
    if (!first || state.active) return;
    const tag = tagAt(state.tags, first);
    const needsWork = !tag || isUnconfirmed(tag);
    session.editor.focus(needsWork ? first : (nextOpenSlot(fields, state.tags, first) ?? first));
  }, [session]);
}

function Notices({
  tagSet,
  session,
  claimError,
}: LabelingProps & { session: Session; claimError: Error | null }) {
  const { t } = useTranslation('workflow/labeling');
  const state = useSaveState(session.saver);
  return (
    <>
      {tagSet.reason !== null && (
        <Alert
          color="orange"
          variant="light"
          title={t('sent_back', { name: tagSet.reviewer?.name ?? '–' })}
        >
          <bdi>{tagSet.reason}</bdi>
        </Alert>
      )}
      {claimError && <ErrorAlert error={claimError} />}
      {state.kind === 'refused' && (
        <Alert color="red" variant="light" role="alert" title={t('save.refused')}>
          {state.error.message} {t('save.kept')}
        </Alert>
      )}
      {state.kind === 'conflict' && (
        <ConflictDialog
          key={state.conflict.revision}
          conflict={state.conflict}
          definitions={session.editor.definitions}
          resolve={(merged) => session.saver.resolve(state.conflict, merged)}
        />
      )}
    </>
  );
}

interface ScreenProps extends LabelingProps {
  artifact: Schemas['Artifact'];
  schema: Schemas['SchemaDetail'];
  session: Session;
}

function LabelScreen({ tagSet, artifact, schema, session }: ScreenProps) {
  const navigate = useNavigate();
  const [commented, setCommented] = useState<string | null>();
  const [guidelines, setGuidelines] = useState(false);
  const { open } = useComments(tagSet.id);
  const claimError = useClaim(artifact.id, session);
  useFirstFocus(session);
  const { editor, saver } = session;
  const labelOf = (name: string) => editor.definitions.get(name)?.label ?? name;
  return (
    <>
      <Workspace
        artifact={artifact}
        editor={editor}
        status={
          <>
            <Note>{schema.name}</Note>
            <SaveStatus saver={saver} />
          </>
        }
        notices={<Notices tagSet={tagSet} session={session} claimError={claimError} />}
        summary={<Progress editor={editor} />}
        badge={(field: Field) => (
          <CommentBadge
            field={field}
            count={open.get(field.key) ?? 0}
            open={() => setCommented(field.key)}
          />
        )}
        actions={
          <LabelActions
            tagSet={tagSet}
            session={session}
            leave={() => navigate({ to: '/label', replace: true })}
            comment={() => setCommented(editor.state.active?.field.split('.', 1)[0] ?? null)}
            showGuidelines={() => setGuidelines(true)}
          />
        }
      />
      <CommentsDrawer
        tagSetId={tagSet.id}
        field={commented}
        labelOf={labelOf}
        close={() => setCommented(undefined)}
      />
      <GuidelinesDrawer
        schema={schema}
        fields={editor.fields}
        opened={guidelines}
        close={() => setGuidelines(false)}
      />
    </>
  );
}

function Opened({ fields, ...rest }: Omit<ScreenProps, 'session'> & { fields: readonly Field[] }) {
  const session = useSession(rest.tagSet, fields);
  return session ? <LabelScreen {...rest} session={session} /> : <Loading />;
}

/** The screen on which a labeler works on their draft. */
export function Labeling({ tagSet }: LabelingProps) {
  const { t } = useTranslation('workflow/labeling');
  const { artifact, fields, schema, error } = useDocument(tagSet);
  if (artifact && fields && schema)
    return <Opened tagSet={tagSet} artifact={artifact} fields={fields} schema={schema} />;
  if (!error) return <Loading />;
  return (
    <Page title={t('draft.failed')} size="narrow">
      <ErrorAlert error={error} />
    </Page>
  );
}
