/** The draft of a schema, kept in this tab until it is saved. */
import { useEffect, useMemo, useState } from 'react';
import { $api } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
import type { Schemas } from '@/kit/api/types';
import { type DraftField, fromFields, toBody } from './model';

export type SchemaDetail = Schemas['SchemaDetail'];
export type ReviewPolicy = Schemas['ReviewPolicy'];

export interface Draft {
  name: string;
  document_type: string;
  description: string;
  guidelines: string;
  required_skills: string[];
  review_policy: ReviewPolicy;
  fields: DraftField[];
}

export function toDraft(schema: SchemaDetail): Draft {
  return {
    name: schema.name,
    document_type: schema.document_type,
    description: schema.description,
    guidelines: schema.guidelines,
    required_skills: [...schema.required_skills],
    review_policy: { ...schema.review_policy },
    fields: fromFields(schema.fields),
  };
}

/** What is sent: two drafts are equal if this is. */
export function draftBody(draft: Draft) {
  return { ...draft, fields: toBody(draft.fields) };
}

const NONE: readonly DraftField[] = [];
const keyOf = (id: string) => `schema-draft:${id}`;

interface Stored {
  revision: number;
  draft: Draft;
}

function readStored(id: string): Stored | undefined {
  const stored = sessionStorage.getItem(keyOf(id));
  return stored === null ? undefined : (JSON.parse(stored) as Stored);
}

export async function refreshSchemas(): Promise<void> {
  const paths = [
    '/api/v1/schemas',
    '/api/v1/schemas/{schema_id}',
    '/api/v1/schemas/{schema_id}/versions',
  ];
  await Promise.all(
    paths.map((path) => queryClient.invalidateQueries({ queryKey: ['get', path] })),
  );
}

/** Returns the draft with its changes. `revision` is the one that the changes began with. */
export function useDraft(schema: SchemaDetail) {
  const saved = useMemo(() => toDraft(schema), [schema]);
  const [edited, setEdited] = useState<Stored | undefined>(() => readStored(schema.id));
  const draft = edited?.draft ?? saved;
  const isDirty =
    edited !== undefined && JSON.stringify(draftBody(draft)) !== JSON.stringify(draftBody(saved));
  const save = $api.useMutation('patch', '/api/v1/schemas/{schema_id}');
  useEffect(() => {
    if (isDirty) sessionStorage.setItem(keyOf(schema.id), JSON.stringify(edited));
    else sessionStorage.removeItem(keyOf(schema.id));
  }, [schema.id, edited, isDirty]);
  const discard = () => {
    save.reset();
    setEdited(undefined);
  };
  const submit = (revision = edited?.revision ?? schema.revision) => {
    // A second request at once would be refused as a change by somebody else.
    if (save.isPending) return;
    const params = { path: { schema_id: schema.id } };
    save.mutate(
      { params, body: { ...draftBody(draft), revision } },
      {
        onSuccess: (answer) => {
          queryClient.setQueryData(['get', '/api/v1/schemas/{schema_id}', { params }], answer);
          // What was typed meanwhile is a change of what was saved.
          setEdited((now) =>
            now === edited ? undefined : now && { ...now, revision: answer.data.revision },
          );
          void refreshSchemas();
        },
      },
    );
  };
  const change = (changes: Partial<Draft>) => {
    const revision = isDirty ? edited.revision : schema.revision;
    setEdited({ revision, draft: { ...draft, ...changes } });
  };
  return {
    draft,
    saved,
    /** The fields as they are saved, if labels may have been made with them. */
    published: schema.current_version ? saved.fields : NONE,
    isDirty,
    isSaving: save.isPending,
    error: save.error as unknown,
    change,
    submit,
    discard,
  };
}

export type DraftState = ReturnType<typeof useDraft>;
