import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useCallback, useMemo, useState } from 'react';
import type { Schemas } from '@/kit/api/types';
import { Part } from '@/kit/components/Part';
import type { Editor } from '../model/editor';
import type { Field } from '../model/tags';
import { CommentBadge } from './CommentBadge';
import { CommentsDrawer } from './CommentsDrawer';
import { GuidelinesDrawer } from './GuidelinesDrawer';
import { countOpen } from './comments';
import { useComments } from './useComments';

interface Drawers {
  /** The number of open threads at a field; opens them. */
  badge: (field: Field) => ReactNode;
  /** Opens the comments at the active field, or on the whole. */
  comment: () => void;
  showGuidelines: () => void;
  /** To be rendered once on the screen. */
  drawers: ReactNode;
}

/** Links in notifications open the comments on the whole: `?panel=comments`. */
function useFirstPanel(): null | undefined {
  const { search } = useLocation();
  return 'panel' in search && search.panel === 'comments' ? null : undefined;
}

/** Comments and guidelines beside the document. */
export function useDrawers(
  tagSetId: string,
  editor: Editor,
  schema: Schemas['SchemaDetail'],
): Drawers {
  const firstPanel = useFirstPanel();
  const [commented, setCommented] = useState<string | null | undefined>(firstPanel);
  const [guidelines, setGuidelines] = useState(false);
  const { comments } = useComments(tagSetId);
  const open = useMemo(() => countOpen(comments), [comments]);
  const badge = useCallback(
    (field: Field) => (
      <CommentBadge
        field={field}
        count={open.get(field.key) ?? 0}
        open={() => setCommented(field.key)}
      />
    ),
    [open],
  );
  return {
    badge,
    comment: () => setCommented(editor.state.active?.field.split('.', 1)[0] ?? null),
    showGuidelines: () => setGuidelines(true),
    drawers: (
      <Part>
        <CommentsDrawer
          tagSetId={tagSetId}
          field={commented}
          labelOf={(name) => editor.definitions.get(name)?.label ?? name}
          close={() => setCommented(undefined)}
        />
        <GuidelinesDrawer
          schema={schema}
          fields={editor.fields}
          opened={guidelines}
          close={() => setGuidelines(false)}
        />
      </Part>
    ),
  };
}
