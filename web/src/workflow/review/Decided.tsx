import { Badge, Button, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { Loading } from '@/kit/components/Loading';
import {
  Editor,
  type Field,
  fromServer,
  Note,
  Progress,
  useDocument,
  Workspace,
} from '@/workflow/labeling';
import { ReopenDialog } from './ReopenDialog';

type TagSet = Schemas['TagSet'];

function DecidedScreen({
  tagSet,
  artifact,
  fields,
}: {
  tagSet: TagSet;
  artifact: Schemas['Artifact'];
  fields: readonly Field[];
}) {
  const { t } = useTranslation('workflow/review');
  const [isReopening, setReopening] = useState(false);
  const editor = useMemo(() => new Editor(fields, fromServer(tagSet.tags), true), [fields, tagSet]);
  const isDecided = tagSet.status === 'accepted' || tagSet.status === 'rejected';
  return (
    <>
      <Workspace
        artifact={artifact}
        editor={editor}
        status={
          <>
            {tagSet.labeler && <Note>{tagSet.labeler.name}</Note>}
            <Badge variant="light" color={tagSet.status === 'accepted' ? 'green' : 'gray'}>
              {t(`status.${tagSet.status}`)}
            </Badge>
          </>
        }
        notices={
          <Text size="sm">
            {t('decided', { name: tagSet.reviewer?.name ?? '–' })} <bdi>{tagSet.reason}</bdi>
          </Text>
        }
        summary={<Progress editor={editor} />}
        actions={
          isDecided && (
            <Button size="xs" variant="default" onClick={() => setReopening(true)}>
              {t('reopen.title')}
            </Button>
          )
        }
      />
      {isReopening && <ReopenDialog tagSet={tagSet} close={() => setReopening(false)} />}
    </>
  );
}

function Loaded({ tagSet }: { tagSet: TagSet }) {
  const { artifact, fields, error } = useDocument(tagSet);
  if (artifact && fields)
    return <DecidedScreen tagSet={tagSet} artifact={artifact} fields={fields} />;
  const failure: unknown = error;
  if (failure) throw failure as Error;
  return <Loading />;
}

/** A tag set that is not in the queue any more. */
export function Decided({ tagSetId }: { tagSetId: string }) {
  const { data, error } = $api.useQuery('get', '/api/v1/tag-sets/{tag_set_id}', {
    params: { path: { tag_set_id: tagSetId } },
  });
  if (data) return <Loaded tagSet={data.data} />;
  const failure: unknown = error;
  if (failure) throw failure as Error;
  return <Loading />;
}
