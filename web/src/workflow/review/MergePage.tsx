import { Button, Group, Text } from '@mantine/core';
import { getRouteApi, useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { useIdempotency } from '@/kit/api/idempotency';
import { isCalling } from '@/kit/api/queryClient';
import type { Schemas } from '@/kit/api/types';
import { EmptyState } from '@/kit/components/EmptyState';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { notifyDone } from '@/kit/components/notify';
import { Page } from '@/kit/components/Page';
import { Unsaved } from '@/kit/forms/unsaved';
import { useKeys } from '@/kit/keys/keys';
import { Editor, type Field, Note, topKey, useDocument, Workspace } from '@/workflow/labeling';
import { type Choices, listPlaces, listUndecided, type Place, preview, toRequest } from './merging';
import { PlaceChoice } from './PlaceChoice';

const route = getRouteApi('/work/review/merge/$artifactId');
const MERGE = '/api/v1/tag-sets/merge';
const MERGEABLE = new Set(['submitted', 'accepted', 'rejected']);

const listMergeable = ({ sets }: Schemas['Consensus']) =>
  sets.filter((one) => one.counted && MERGEABLE.has(one.status));

function useMerge(places: readonly Place[], setIds: readonly string[], choices: Choices) {
  const { t } = useTranslation('workflow/review');
  const navigate = useNavigate();
  const idempotency = useIdempotency();
  const merge = $api.useMutation('post', MERGE, {
    onSuccess: async () => {
      notifyDone(t('merge.done'));
      await navigate({ to: '/review/next', replace: true, ignoreBlocker: true });
    },
  });
  const run = () => {
    // The keys also reach a button that is off.
    if (isCalling(MERGE) || listUndecided(places, choices).length > 0) return;
    const body = {
      tag_set_ids: [...setIds],
      strategy: 'majority' as const,
      choices: toRequest(places, choices),
      accept: true,
    };
    merge.mutate({ params: { header: idempotency.headers(body) }, body });
  };
  return { run, error: merge.error, isPending: merge.isPending };
}

/** Puts the keyboard on the next value that is not decided. */
function focusUndecided(): void {
  const inputs = document.querySelectorAll<HTMLInputElement>('[data-undecided] input');
  const own = document.activeElement?.closest('[data-undecided]');
  const next = [...inputs].find(
    (input) =>
      input.closest('[data-undecided]') !== own &&
      (!own || own.compareDocumentPosition(input) & Node.DOCUMENT_POSITION_FOLLOWING),
  );
  (next ?? inputs[0])?.focus();
}

interface ScreenProps {
  consensus: Schemas['Consensus'];
  artifact: Schemas['Artifact'];
  fields: readonly Field[];
}

function MergeScreen({ consensus, artifact, fields }: ScreenProps) {
  const { t } = useTranslation('workflow/review');
  const sets = listMergeable(consensus);
  const setIds = sets.map((one) => one.tag_set_id);
  const [places] = useState(() => listPlaces(consensus, setIds));
  const [choices, setChoices] = useState<Choices>(new Map());
  const [editor] = useState(() => new Editor(fields, preview(places, choices), true));
  useEffect(() => editor.replace(preview(places, choices)), [editor, places, choices]);
  const merge = useMerge(places, setIds, choices);
  const nameOf = (id: string) =>
    sets.find((one) => one.tag_set_id === id)?.labeler?.name ?? t('merge.source');
  const undecided = listUndecided(places, choices).length;
  const isReady = undecided === 0;
  const router = useRouter();
  const leave = () => router.history.back();
  useKeys(t('merge.title'), [
    { keys: 'n', text: t('merge.next'), run: focusUndecided, disabled: undecided === 0 },
    { keys: ['a', 'mod+Enter'], text: t('merge.button'), run: merge.run, disabled: !isReady },
  ]);
  const below = (field: Field) =>
    places
      .filter((place) => topKey(place.field) === field.key && place.options.length > 1)
      .map((place) => (
        <PlaceChoice
          key={place.key}
          place={place}
          field={field}
          nameOf={nameOf}
          choices={choices}
          choose={(name, option) => setChoices(new Map(choices).set(name, option))}
        />
      ));
  return (
    <Workspace
      artifact={artifact}
      editor={editor}
      status={<Note>{setIds.map(nameOf).join(', ')}</Note>}
      notices={
        <>
          <Unsaved isDirty={choices.size > 0} />
          <ErrorAlert error={merge.error} />
        </>
      }
      summary={<Text size="xs">{t('merge.open', { count: undecided })}</Text>}
      below={below}
      actions={
        <Group ml="auto" gap="xs">
          <Button variant="default" size="xs" onClick={leave}>
            {t('cancel')}
          </Button>
          <Button size="xs" onClick={merge.run} loading={merge.isPending} disabled={!isReady}>
            {t('merge.button')}
          </Button>
        </Group>
      }
    />
  );
}

function Loaded({
  consensus,
  tagSet,
}: {
  consensus: Schemas['Consensus'];
  tagSet: Schemas['TagSet'];
}) {
  const { artifact, fields, error } = useDocument(tagSet);
  if (artifact && fields)
    return <MergeScreen consensus={consensus} artifact={artifact} fields={fields} />;
  const failure: unknown = error;
  if (failure) throw failure as Error;
  return <Loading />;
}

function NothingToMerge() {
  const { t } = useTranslation('workflow/review');
  return (
    <Page title={t('merge.title')} size="narrow">
      <EmptyState title={t('merge.nothing')} />
    </Page>
  );
}

/** Merges the tag sets of a document into one, value by value. */
export function MergePage() {
  const { artifactId } = route.useParams();
  const { data, error } = $api.useQuery(
    'get',
    '/api/v1/artifacts/{artifact_id}/consensus',
    { params: { path: { artifact_id: artifactId } } },
    { staleTime: Infinity, gcTime: 0 },
  );
  const sets = data && listMergeable(data.data);
  const first = sets?.[0]?.tag_set_id;
  const sample = $api.useQuery(
    'get',
    '/api/v1/tag-sets/{tag_set_id}',
    { params: { path: { tag_set_id: first ?? '' } } },
    { enabled: first !== undefined },
  );
  if (sets && sets.length < 2) return <NothingToMerge />;
  if (data && sample.data) return <Loaded consensus={data.data} tagSet={sample.data.data} />;
  const failure: unknown = error ?? sample.error;
  if (failure) throw failure as Error;
  return <Loading />;
}
