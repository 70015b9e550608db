import { Alert, Badge } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { useFormat } from '@/kit/i18n/format';
import {
  CommentBadge,
  CommentsDrawer,
  ConflictDialog,
  type Editor,
  type Field,
  GuidelinesDrawer,
  Note,
  useComments,
  useDocument,
  Workspace,
} from '@/workflow/labeling';
import { Alternatives } from './Alternatives';
import { ReviewActions } from './ReviewActions';
import { Summary } from './Summary';
import { useDecisions } from './useDecisions';
import { useReviewClaim } from './useReviewClaim';
import { useReviewing } from './useReviewing';
import { useSources } from './useSources';

type Item = Schemas['ReviewItemDetail'];

function Notices({ item, error }: { item: Item; error: unknown }) {
  const { t } = useTranslation('workflow/review');
  return (
    <>
      <ErrorAlert error={error} />
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
        <Badge key={flag} size="sm" variant="light" color="orange">
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

interface DrawersProps {
  itemId: string;
  editor: Editor;
  schema: Schemas['SchemaDetail'];
  commented: string | null | undefined;
  hasGuidelines: boolean;
  close: () => void;
}

function Drawers({ itemId, editor, schema, commented, hasGuidelines, close }: DrawersProps) {
  return (
    <>
      <CommentsDrawer
        tagSetId={itemId}
        field={commented}
        labelOf={(name) => editor.definitions.get(name)?.label ?? name}
        close={close}
      />
      <GuidelinesDrawer
        schema={schema}
        fields={editor.fields}
        opened={hasGuidelines}
        close={close}
      />
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
    notifications.show({ message: t(`done.${note}`, { name }) });
    return navigate({ to: '/review/next', replace: true });
  };
}

function ReviewScreen({ item, artifact, schema, fields }: ScreenProps) {
  const done = useDone(artifact.name);
  const { editor, keeper } = useReviewing(item.tag_set, fields);
  const claimError = useReviewClaim(item.id);
  const { sources, others } = useSources(item);
  const { open } = useComments(item.id);
  const [commented, setCommented] = useState<string | null>();
  const [guidelines, setGuidelines] = useState(false);
  const close = () => {
    setCommented(undefined);
    setGuidelines(false);
  };
  const badge = (field: Field) => (
    <CommentBadge
      field={field}
      count={open.get(field.key) ?? 0}
      open={() => setCommented(field.key)}
    />
  );
  const decisions = useDecisions({ item, editor, keeper, done });
  return (
    <>
      <Workspace
        artifact={artifact}
        editor={editor}
        status={<Status item={item} schema={schema.name} />}
        notices={<Notices item={item} error={claimError ?? decisions.error} />}
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
            comment={() => setCommented(editor.state.active?.field.split('.', 1)[0] ?? null)}
            showGuidelines={() => setGuidelines(true)}
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
      <Drawers
        itemId={item.id}
        editor={editor}
        schema={schema}
        commented={commented}
        hasGuidelines={guidelines}
        close={close}
      />
    </>
  );
}

/** The screen on which a reviewer decides about a tag set. */
export function Review({ item }: { item: Item }) {
  const { artifact, fields, schema, error } = useDocument(item.tag_set);
  const failure: unknown = error;
  if (failure) throw failure as Error;
  if (!artifact || !fields || !schema) return <Loading />;
  return <ReviewScreen item={item} artifact={artifact} fields={fields} schema={schema} />;
}
