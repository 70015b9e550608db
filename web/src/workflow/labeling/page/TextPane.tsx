import { useEffect, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import type { Schemas } from '@/kit/api/types';
import { useEditor } from '../model/context';
import classes from './Pages.module.css';
import { type Chunk, splitText, stretchBetween, wordAround } from './text';
import { useHighlights } from './useHighlights';
import { useView } from './view';

interface Position {
  chunk: number;
  unit: number;
}

function positionOf(node: Node, unit: number): Position | undefined {
  const element = node instanceof Element ? node : node.parentElement;
  const chunk = element?.closest<HTMLElement>('[data-chunk]')?.dataset['chunk'];
  return chunk === undefined ? undefined : { chunk: Number(chunk), unit };
}

/** What the user selected, or the word at the caret after a click. */
function readSelection(chunks: readonly Chunk[], language: string | undefined) {
  const selection = window.getSelection();
  if (!selection || selection.rangeCount === 0) return undefined;
  const range = selection.getRangeAt(0);
  const from = positionOf(range.startContainer, range.startOffset);
  const to = positionOf(range.endContainer, range.endOffset);
  if (!from || !to) return undefined;
  if (!range.collapsed) return stretchBetween(chunks, from, to);
  const word = wordAround(chunks[from.chunk]?.text ?? '', from.unit, language);
  return (
    word &&
    stretchBetween(
      chunks,
      { chunk: from.chunk, unit: word.from },
      { chunk: from.chunk, unit: word.to },
    )
  );
}

function pageOf(text: Schemas['ArtifactText'], offset: number): number | null {
  return text.pages.find((page) => offset >= page.start && offset < page.end)?.number ?? null;
}

function TextBody({ text }: { text: Schemas['ArtifactText'] }) {
  const { t } = useTranslation('workflow/labeling');
  const editor = useEditor();
  const view = useView();
  const containerRef = useRef<HTMLDivElement>(null);
  const chunks = useMemo(() => splitText(text.text), [text.text]);
  useHighlights(containerRef, chunks);
  useEffect(() => view.connect({ focus: () => containerRef.current?.focus() }), [view]);
  const take = () => {
    const stretch = readSelection(chunks, text.language ?? undefined);
    const { active } = editor.state;
    if (!stretch || !active || editor.readOnly) return;
    const type = editor.definitions.get(active.field)?.type;
    if (type === 'region') return;
    const { start, end } = stretch;
    const evidence = [{ page: pageOf(text, start), box: null, start, end, text: null }];
    editor.takeText(stretch.text, evidence);
    window.getSelection()?.removeAllRanges();
  };
  return (
    // The words are taken by selecting them; the keyboard does it with Enter.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <div
      ref={containerRef}
      className={classes.text}
      role="document"
      aria-label={t('page.text')}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      onMouseUp={take}
      onKeyDown={(event) => {
        if (event.key === 'Enter') take();
      }}
    >
      {chunks.map((chunk, at) => (
        <div key={chunk.start} data-chunk={at} dir="auto" className={classes.chunk}>
          {chunk.text}
        </div>
      ))}
    </div>
  );
}

/** The document as plain text, with the values marked. */
export function TextPane({ artifactId }: { artifactId: string }) {
  const query = $api.useQuery(
    'get',
    '/api/v1/artifacts/{artifact_id}/text',
    { params: { path: { artifact_id: artifactId } } },
    { staleTime: Infinity },
  );
  if (query.data) return <TextBody text={query.data.data} />;
  return query.error ? <ErrorAlert error={query.error} /> : <Loading />;
}
