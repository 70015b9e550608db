import { useEffect, useState } from 'react';
import type { Schemas } from '@/kit/api/types';
import { Editor, type Field } from '@/workflow/labeling';
import { Keeper } from './keeper';

interface Reviewing {
  readonly editor: Editor;
  readonly keeper: Keeper;
}

function open(tagSet: Schemas['TagSet'], fields: readonly Field[]): Reviewing {
  const editor = new Editor(fields, Keeper.read(tagSet));
  const keeper = new Keeper(editor, tagSet);
  editor.onEdit = keeper.keep;
  return { editor, keeper };
}

/** The tag set under review with the corrections of the reviewer. */
export function useReviewing(tagSet: Schemas['TagSet'], fields: readonly Field[]): Reviewing {
  const [reviewing] = useState(() => open(tagSet, fields));
  useEffect(() => {
    void reviewing.keeper.resume();
  }, [reviewing]);
  return reviewing;
}
