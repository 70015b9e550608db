import { createContext, useContext, useSyncExternalStore } from 'react';
import type { Editor, EditorState } from './editor';

export const EditorContext = createContext<Editor | undefined>(undefined);

export function useEditor(): Editor {
  const editor = useContext(EditorContext);
  if (!editor) throw new Error('There is no editor around this component.');
  return editor;
}

/** Returns a part of the state; the component renders again only when this part is another. */
export function useEditorState<Part>(select: (state: EditorState) => Part): Part {
  const editor = useEditor();
  const read = () => select(editor.state);
  return useSyncExternalStore(editor.subscribe, read, read);
}
