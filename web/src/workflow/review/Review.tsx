import { Alert, Badge } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { notifyDone } from '@/kit/components/notify';
import { useFormat } from '@/kit/i18n/format';
import {
  Alternatives,
  ConflictDialog,
  type Editor,
  type Field,
  Note,
  useDocument,
  useDrawers,
  Workspace,
} from '@/workflow/labeling';
import { Resubmitted } from './Resubmitted';
import { ReviewActions } from './ReviewActions';
import { Summary } from './Summary';
import { useDecisions } from './useDecisions';
import { type Resubmission, useResubmission } from './useResubmission';
import { useReviewClaim } from './useReviewClaim';
import { useReviewing } from './useReviewing';
import { useSources } from './useSources';

type Item = Schemas['ReviewItemDetail'];

interface NoticesProps {
  item: Item;
  editor: Editor;
  resubmission: Resubmission | undefined;
  error: unknown;
}

function Notices({ item, editor, resubmission, error }: NoticesProps) {
  const { t } = useTranslation('workflow/review');
  const [submitted] = useState(editor.state.byField);
  return (
    <>
      <ErrorAlert error={error} />
      {resubmission && (
        <Resubmitted resubmission={resubmission} byField={submitted} fields={editor.fields} />
      )}
      {item.escalation && (
        <Alert color="orange" variant="light" title={t('escalated')}>
          <bdi>{item.escalation.reason}</bdi>
        </Alert>
      )}
    </>
  );
}

function Status({ item, schema }: { item: Item; schema: string }) {
  const { t } = useTranslation('workflow/review');
  const format = useFormat();
  const { labeler, submitted_at } = item.tag_set;
  return (
    <>
      {item.flags.map((flag) => (
        <Badge key={flag} size="sm" variant="light" color="orange" c="var(--mantine-color-text)">
          {t(`flags.${flag}`)}
        </Badge>
      ))}
      <Note>
        {schema}
        {labeler && ` · ${labeler.name}`}
        {submitted_at !== null && ` · ${format.relative(submitted_at)}`}
      </Note>
    </>
  );
}

interface ScreenProps {
  item: Item;
  artifact: Schemas['Artifact'];
  schema: Schemas['SchemaDetail'];
  fields: readonly Field[];
}

/** Says what was decided, and goes on to the next item. */
function useDone(name: string) {
  const { t } = useTranslation('workflow/review');
  const navigate = useNavigate();
  return (note: 'accepted' | 'rejected' | 'escalated' | 'released') => {
    notifyDone(t(`done.${note}`, { name }));
    return navigate({ to: '/review/next', replace: true, ignoreBlocker: true });
  };
}

function ReviewScreen({ item, artifact, schema, fields }: ScreenProps) {
  const done = useDone(artifact.name);
  const { editor, keeper } = useReviewing(item.tag_set, fields);
  const claimError = useReviewClaim(item.id);
  const resubmission = useResubmission(item);
  const { sources, others } = useSources(item, resubmission);
  const { badge, comment, showGuidelines, drawers } = useDrawers(item.id, editor, schema);
  const decisions = useDecisions({ item, editor, keeper, done });
  return (
    <>
      <Workspace
        artifact={artifact}
        editor={editor}
        status={<Status item={item} schema={schema.name} />}
        notices={
          <Notices {...{ item, editor, resubmission }} error={claimError ?? decisions.error} />
        }
        summary={<Summary editor={editor} sources={sources} />}
        badge={badge}
        below={(field) => <Alternatives field={field} sources={sources} />}
        actions={
          <ReviewActions
            item={item}
            editor={editor}
            keeper={keeper}
            decisions={decisions}
            canMerge={others.some((one) => one.status !== 'rejected')}
            comment={comment}
            showGuidelines={showGuidelines}
          />
        }
      />
      {decisions.conflict && (
        <ConflictDialog
          conflict={decisions.conflict}
          definitions={editor.definitions}
          resolve={decisions.resolve}
        />
      )}
      {drawers}
    </>
  );
}

/** The screen on which a reviewer decides about a tag set. */
export function Review({ item }: { item: Item }) {
  const { artifact, fields, schema, error } = useDocument(item.tag_set);
  if (artifact && fields && schema)
    return <ReviewScreen item={item} artifact={artifact} fields={fields} schema={schema} />;
  const failure: unknown = error;
  if (failure) throw failure as Error;
  return <Loading />;
}
