import { Badge, Button, Group, Text } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { BookOpen, MessageSquare } from 'lucide-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { Page } from '@/kit/components/Page';
import { useKeys } from '@/kit/keys/keys';
import { useMay } from '@/kit/session/may';
import { useSession } from '@/kit/session/store';
import { IconAction } from './LabelActions';
import { Labeling } from './Labeling';
import { Editor } from './model/editor';
import { type Field, fromServer } from './model/tags';
import { Progress } from './parts/Progress';
import { useDrawers } from './parts/useDrawers';
import { useDocument } from './parts/useDocument';
import { Note, Workspace } from './parts/Workspace';

const route = getRouteApi('/work/tag-sets/$tagSetId');

interface ScreenProps {
  tagSet: Schemas['TagSet'];
  artifact: Schemas['Artifact'];
  schema: Schemas['SchemaDetail'];
  fields: readonly Field[];
}

interface ActionsProps {
  tagSet: Schemas['TagSet'];
  comment: () => void;
  showGuidelines: () => void;
}

function ReadActions({ tagSet, comment, showGuidelines }: ActionsProps) {
  const { t } = useTranslation('workflow/labeling');
  useKeys(t('keys.label'), [
    { keys: ['c', 'F4'], text: t('comments.title'), run: comment },
    { keys: 'g', text: t('guidelines.title'), run: showGuidelines },
  ]);
  const may = useMay();
  const canReview = may('tag_sets:review') && tagSet.status !== 'draft';
  return (
    <>
      <Group gap={2}>
        <IconAction icon={MessageSquare} label={t('comments.title')} run={comment} />
        <IconAction icon={BookOpen} label={t('guidelines.title')} run={showGuidelines} />
      </Group>
      {canReview && (
        <Button component={Link} to={`/review/${tagSet.id}`} size="xs">
          {t('actions.review')}
        </Button>
      )}
    </>
  );
}

function ReadScreen({ tagSet, artifact, schema, fields }: ScreenProps) {
  const { t } = useTranslation('workflow/labeling');
  const editor = useMemo(() => new Editor(fields, fromServer(tagSet.tags), true), [fields, tagSet]);
  const { badge, comment, showGuidelines, drawers } = useDrawers(tagSet.id, editor, schema);
  return (
    <>
      <Workspace
        artifact={artifact}
        editor={editor}
        status={
          <>
            {tagSet.labeler && <Note>{tagSet.labeler.name}</Note>}
            <Badge variant="light" color="gray">
              {t(`status.${tagSet.status}`)}
            </Badge>
          </>
        }
        notices={
          tagSet.reason !== null && (
            <Text size="sm">
              {t('reason', { name: tagSet.reviewer?.name ?? '–' })} <bdi>{tagSet.reason}</bdi>
            </Text>
          )
        }
        summary={<Progress editor={editor} />}
        badge={badge}
        actions={<ReadActions {...{ tagSet, comment, showGuidelines }} />}
      />
      {drawers}
    </>
  );
}

function Read({ tagSet }: { tagSet: Schemas['TagSet'] }) {
  const { t } = useTranslation('workflow/labeling');
  const { artifact, fields, schema, error } = useDocument(tagSet);
  if (artifact && fields && schema) return <ReadScreen {...{ tagSet, artifact, fields, schema }} />;
  if (!error) return <Loading />;
  return (
    <Page title={t('draft.failed')} size="narrow">
      <ErrorAlert error={error} />
    </Page>
  );
}

/** A tag set as the caller may use it: their own draft is edited, everything else is read. */
export function TagSetPage() {
  const { tagSetId } = route.useParams();
  const userId = useSession()?.user.id;
  const { data, error } = $api.useQuery(
    'get',
    '/api/v1/tag-sets/{tag_set_id}',
    { params: { path: { tag_set_id: tagSetId } } },
    { gcTime: 0, staleTime: Infinity },
  );
  if (error && !data) throw error;
  if (!data) return <Loading />;
  const tagSet = data.data;
  const isOwnDraft = tagSet.status === 'draft' && tagSet.labeler?.id === userId;
  return isOwnDraft ? (
    <Labeling key={tagSetId} tagSet={tagSet} />
  ) : (
    <Read key={tagSetId} tagSet={tagSet} />
  );
}
