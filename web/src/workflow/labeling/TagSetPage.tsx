import { Badge, Button, Text } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { Page } from '@/kit/components/Page';
import { useMay } from '@/kit/session/may';
import { useSession } from '@/kit/session/store';
import { Labeling } from './Labeling';
import { Editor } from './model/editor';
import { type Field, fromServer } from './model/tags';
import { CommentBadge } from './parts/CommentBadge';
import { CommentsDrawer } from './parts/CommentsDrawer';
import { Progress } from './parts/Progress';
import { useComments } from './parts/useComments';
import { useDocument } from './parts/useDocument';
import { Note, Workspace } from './parts/Workspace';

const route = getRouteApi('/work/tag-sets/$tagSetId');

interface ScreenProps {
  tagSet: Schemas['TagSet'];
  artifact: Schemas['Artifact'];
  fields: readonly Field[];
}

function ReadActions({ tagSet, comment }: { tagSet: Schemas['TagSet']; comment: () => void }) {
  const { t } = useTranslation('workflow/labeling');
  const may = useMay();
  const canReview = may('tag_sets:review') && tagSet.status !== 'draft';
  return (
    <>
      <Button variant="default" size="xs" onClick={comment}>
        {t('comments.title')}
      </Button>
      {canReview && (
        <Button component={Link} to={`/review/${tagSet.id}`} size="xs">
          {t('actions.review')}
        </Button>
      )}
    </>
  );
}

function ReadScreen({ tagSet, artifact, fields }: ScreenProps) {
  const { t } = useTranslation('workflow/labeling');
  const editor = useMemo(() => new Editor(fields, fromServer(tagSet.tags), true), [fields, tagSet]);
  const [commented, setCommented] = useState<string | null>();
  const { open } = useComments(tagSet.id);
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
        badge={(field) => (
          <CommentBadge
            field={field}
            count={open.get(field.key) ?? 0}
            open={() => setCommented(field.key)}
          />
        )}
        actions={<ReadActions tagSet={tagSet} comment={() => setCommented(null)} />}
      />
      <CommentsDrawer
        tagSetId={tagSet.id}
        field={commented}
        labelOf={(name) => editor.definitions.get(name)?.label ?? name}
        close={() => setCommented(undefined)}
      />
    </>
  );
}

function Read({ tagSet }: { tagSet: Schemas['TagSet'] }) {
  const { t } = useTranslation('workflow/labeling');
  const { artifact, fields, error } = useDocument(tagSet);
  if (artifact && fields) return <ReadScreen tagSet={tagSet} artifact={artifact} fields={fields} />;
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
  if (error) throw error;
  if (!data) return <Loading />;
  const tagSet = data.data;
  const isOwnDraft = tagSet.status === 'draft' && tagSet.labeler?.id === userId;
  return isOwnDraft ? (
    <Labeling key={tagSetId} tagSet={tagSet} />
  ) : (
    <Read key={tagSetId} tagSet={tagSet} />
  );
}
