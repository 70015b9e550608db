import { Alert } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { Page } from '@/kit/components/Page';
import type { Schemas } from '@/kit/api/types';
import { Alternatives } from './compare/Alternatives';
import { LabelActions } from './LabelActions';
import { type Session, useSession } from './model/session';
import { listSlots, nextOpenSlot } from './model/slots';
import { type Field, isUnconfirmed, type LocalTag, tagAt } from './model/tags';
import { ConflictDialog } from './parts/ConflictDialog';
import { PredictionPending, Progress } from './parts/Progress';
import { SaveStatus, useSaveState } from './parts/SaveStatus';
import { useClaim } from './parts/useClaim';
import { useDrawers } from './parts/useDrawers';
import { type PredictionState, usePrediction } from './parts/usePrediction';
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
  prediction,
}: LabelingProps & {
  session: Session;
  claimError: Error | null;
  prediction: PredictionState;
}) {
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
      <ErrorAlert error={prediction.error} {...(prediction.ask && { retry: prediction.ask })} />
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

/** What a prediction has where the draft has another value, below each field. */
function usePredicted(tags: readonly LocalTag[] | undefined) {
  const { t } = useTranslation('workflow/labeling');
  const name = t('field.predicted');
  return useMemo(() => {
    if (!tags) return undefined;
    const sources = [{ key: 'prediction', name, tags }];
    return (field: Field) => <Alternatives field={field} sources={sources} onlyValues />;
  }, [tags, name]);
}

interface ScreenProps extends LabelingProps {
  artifact: Schemas['Artifact'];
  schema: Schemas['SchemaDetail'];
  session: Session;
}

function LabelScreen({ tagSet, artifact, schema, session }: ScreenProps) {
  const navigate = useNavigate();
  const claimError = useClaim(artifact.id, session);
  useFirstFocus(session);
  const { editor, saver } = session;
  const prediction = usePrediction({ tagSet, artifact, schema, session });
  const below = usePredicted(prediction.tags);
  const { badge, comment, showGuidelines, drawers } = useDrawers(tagSet.id, editor, schema);
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
        notices={<Notices {...{ tagSet, session, claimError, prediction }} />}
        summary={
          <>
            <Progress editor={editor} />
            {prediction.isPending && <PredictionPending />}
          </>
        }
        badge={badge}
        below={below}
        actions={
          <LabelActions
            tagSet={tagSet}
            session={session}
            leave={() => navigate({ to: '/label', replace: true })}
            comment={comment}
            showGuidelines={showGuidelines}
            predict={prediction.ask}
          />
        }
      />
      {drawers}
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
